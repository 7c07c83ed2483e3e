#include "actions/silences.hpp"

#include <gtest/gtest.h>

namespace gorgo::actions {
namespace {

doors::Departing::Row fire(const std::string& area, std::int64_t heat) {
  Event event{.type = "Fire", .timestamp = 0, .attributes = {}};
  event.attributes.push_back({"area", area});
  event.attributes.push_back({"heat", heat});
  return {{7, 1}, std::move(event)};
}

ActionSilence until(Timestamp time, std::vector<std::string> matchers) {
  ActionSilence silence;
  silence.until = time;
  silence.matchers = std::move(matchers);
  return silence;
}

TEST(Silences, TakeWhatAllMatchersSay) {
  Silences silences;
  EXPECT_FALSE(silences.takes(fire("A", 1), 0));
  ASSERT_TRUE(silences.add(until(10, {"area=A", "heat=50", "type=Fire"}), 0));
  EXPECT_TRUE(silences.takes(fire("A", 50), 9));
  EXPECT_FALSE(silences.takes(fire("B", 50), 9));
  EXPECT_FALSE(silences.takes(fire("A", 51), 9));
  EXPECT_FALSE(silences.takes(fire("A", 50), 10)) << "it is over";
  EXPECT_TRUE(silences.all(0).empty());
}

TEST(Silences, EndByTheirId) {
  Silences silences;
  const auto first = silences.add(until(10, {}), 0),
             second = silences.add(until(10, {"area=B"}), 0);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(silences.takes(fire("A", 1), 1)) << "without a matcher it takes all";
  EXPECT_TRUE(silences.end(*first));
  EXPECT_FALSE(silences.end(*first));
  EXPECT_FALSE(silences.takes(fire("A", 1), 1));
  EXPECT_TRUE(silences.takes(fire("B", 1), 1));
}

TEST(Silences, AreRefusedWhenTheySayNothing) {
  Silences silences;
  EXPECT_FALSE(silences.add(until(10, {"area"}), 0));
  EXPECT_FALSE(silences.add(until(10, {"=A"}), 0));
  EXPECT_FALSE(silences.add(until(10, {}), 10));
}

TEST(Silences, AreTheSameWhenTheyWereSaved) {
  Silences silences;
  auto silence = until(10, {"area=A \"1\""});
  silence.comment = "m\xC3\xBChsam";
  ASSERT_TRUE(silences.add(silence, 0));
  ASSERT_TRUE(silences.add(until(20, {}), 0));
  ASSERT_TRUE(silences.end(2));
  Silences again(silences.saved());
  ASSERT_EQ(again.all(0).size(), 1u);
  EXPECT_EQ(again.all(0)[0].matchers, silence.matchers);
  EXPECT_EQ(again.all(0)[0].comment, silence.comment);
  EXPECT_EQ(again.all(0)[0].until, 10);
  EXPECT_TRUE(again.all(10).empty());
  EXPECT_EQ(*again.add(until(20, {}), 0), 3u) << "an id is given once";
}

TEST(Silences, AreNoneWhenWhatWasSavedIsBroken) {
  for (const char* text : {"", "{", "[]", R"({"last_id":1})", R"({"last_id":1,"silences":[{}]})",
                           R"({"last_id":"x","silences":[]})"}) {
    EXPECT_TRUE(Silences(std::string(text)).all(0).empty()) << text;
  }
}

TEST(Silences, AreBounded) {
  Silences silences;
  auto silence = until(10, {});
  silence.comment.assign(2001, 'x');
  EXPECT_FALSE(silences.add(silence, 0));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(silences.add(until(10, {}), 0));
  EXPECT_FALSE(silences.add(until(10, {}), 0));
  EXPECT_TRUE(silences.add(until(30, {}), 20)) << "the others are over";
}

}  // namespace
}  // namespace gorgo::actions
