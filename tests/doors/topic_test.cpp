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

TEST(Topic, HoldsNothingThatABrokerTakesForAnError) {
  const auto mqtt = [](const std::string& area) {
    return topic_of("{area}", Event{"Fire", 1000, {{"area", area}}});
  };
  EXPECT_EQ(mqtt(std::string("a\0b\x01\x1F\x7F", 6)), "a_b___");
  EXPECT_EQ(mqtt("a\u0080\u009F\u00A0\u00E9"), "a__\u00A0\u00E9");
  EXPECT_EQ(mqtt("\uFDCF\uFDD0\uFDEF\uFDF0"), "\uFDCF__\uFDF0");
  EXPECT_EQ(mqtt("\uFFFD\uFFFE\uFFFF\U0001FFFE\U0001FFFD\U0010FFFF\U0001F7FE"),
            "\uFFFD___\U0001FFFD_\U0001F7FE");
  EXPECT_EQ(mqtt(std::string(65533, 'a') + "\u00E9\u00E9"), std::string(65533, 'a') + "\u00E9");
  const Event odd{"Fire", 1000, {{"area", std::string("A.1 caf\u00E9!-") + std::string(300, 'x')}}};
  EXPECT_EQ(topic_of("{type}.{area}", odd, kKafkaTopics),
            "Fire.A_1_caf__-" + std::string(249 - 15, 'x'));
}

}  // namespace
}  // namespace gorgo::doors
