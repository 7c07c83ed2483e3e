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
  EXPECT_TRUE(silences.all().empty());
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

}  // namespace
}  // namespace gorgo::actions
