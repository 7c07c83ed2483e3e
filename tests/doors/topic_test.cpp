#include "doors/topic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gorgo::doors {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TopicPattern pattern(const std::string& text) {
  auto made = TopicPattern::make(text);
  EXPECT_TRUE(made) << text;
  return *made;
}

TEST(Topic, LevelsAreAttributes) {
  const auto made = pattern("plant/{area}/+/{type}");
  EXPECT_EQ(made.filter(), "plant/+/+/+");
  const auto content = made.match("plant/A1/x/Temp");
  ASSERT_TRUE(content);
  EXPECT_EQ(content->type, "Temp");
  EXPECT_THAT(content->attributes, ElementsAre(Pair("area", "A1")));
  EXPECT_FALSE(made.match("plant/A1/x"));
  EXPECT_FALSE(made.match("plant/A1/x/Temp/more"));
  EXPECT_FALSE(made.match("office/A1/x/Temp"));
}

TEST(Topic, AWildcardTakesTheRest) {
  const auto made = pattern("plant/{area}/#");
  EXPECT_EQ(made.filter(), "plant/+/#");
  EXPECT_THAT(made.match("plant/A1/x/y")->attributes, ElementsAre(Pair("area", "A1")));
  EXPECT_TRUE(made.match("plant/A1"));
  EXPECT_FALSE(made.match("plant"));
}

TEST(Topic, WrongOnesAreRefused) {
  for (const char* wrong : {"", "a/#/b", "a/b+", "a/{no name}", "a/{x", "a/{1x}"}) {
    EXPECT_FALSE(TopicPattern::make(wrong)) << wrong;
  }
  EXPECT_THAT(check_topic("alarms/+").error().message, HasSubstr("wildcard"));
  EXPECT_TRUE(check_topic("alarms/{type}/{area}"));
}

TEST(Topic, OfAnEventHasItsValues) {
  const Event event{"Fire", 1000, {{"area", std::string("A/1")}, {"n", std::int64_t{7}}}};
  EXPECT_EQ(topic_of("alarms/{type}/{area}/{n}/{gone}", event), "alarms/Fire/A_1/7/_");
}

}  // namespace
}  // namespace gorgo::doors
