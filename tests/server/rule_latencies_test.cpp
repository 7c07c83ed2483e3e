#include "server/rules/rule_latencies.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace gorgo::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RuleLatenciesTest : public testing::Test {
 protected:
  RuleLatencies::Moment at(int ms) const { return start_ + milliseconds(ms); }

  /// Composites of a rule at these times, in the queues of subscribers at `now`.
  void fire(std::uint32_t rule, const std::vector<Timestamp>& times, int now) {
    OutputBatch batch;
    batch.rule_names = names_;
    for (const Timestamp time : times) {
      batch.rows.push_back({.place = {},
                            .timestamp = time,
                            .type = 0,
                            .first_cell = 0,
                            .extras = OutputBatch::kNoExtras,
                            .rule = rule});
    }
    latencies_.take(batch, publications_, at(now));
  }

  const RuleLatencies::Moment start_ = RuleLatencies::Moment() + seconds(1000);
  std::array<std::string, 3> names_ = {"f.one", "f.two", "f.three"};
  LatencyWatch publications_;
  RuleLatencies latencies_;
};

TEST_F(RuleLatenciesTest, EachCompositeWaitsFromWhenItsPublicationWasRead) {
  publications_.add(at(0), 5, 100);
  publications_.add(at(10), 5, 200);
  fire(1, {100, 150, 200}, 30);
  const auto latency = latencies_.of("f.two");
  ASSERT_TRUE(latency);
  EXPECT_DOUBLE_EQ(latency->mean, (0.030 + 0.020 + 0.020) / 3);
  EXPECT_DOUBLE_EQ(latency->longest, 0.030);
  EXPECT_FALSE(latencies_.of("f.one"));
}

TEST_F(RuleLatenciesTest, APublicationOfWhichOnlyAPieceIsTakenCounts) {
  publications_.add(at(0), 5, 100);
  publications_.begin(at(10));
  fire(0, {300}, 15);
  EXPECT_DOUBLE_EQ(latencies_.of("f.one")->longest, 0.005);
}

TEST_F(RuleLatenciesTest, WhatNoPublicationBringsAboutIsLeftOut) {
  fire(0, {100}, 15);
  EXPECT_FALSE(latencies_.of("f.one"));
  publications_.begin(at(10));
  publications_.settle(Processor());
  fire(0, {100}, 15);
  EXPECT_FALSE(latencies_.of("f.one"));
}

TEST_F(RuleLatenciesTest, WhatIsLongAgoIsForgottenWhenTheRuleFiresAgain) {
  const auto fire_after = [&](int ms, int took) {
    publications_.begin(at(ms - took));
    fire(2, {1}, ms);
  };
  fire_after(100, 50);
  EXPECT_DOUBLE_EQ(latencies_.of("f.three")->longest, 0.050);
  fire_after(6000, 10);
  EXPECT_DOUBLE_EQ(latencies_.of("f.three")->longest, 0.050);
  fire_after(12000, 20);
  EXPECT_DOUBLE_EQ(latencies_.of("f.three")->longest, 0.020);
  EXPECT_DOUBLE_EQ(latencies_.of("f.three")->mean, 0.015);
}

TEST_F(RuleLatenciesTest, RulesThatHaveGoneAreForgottenOnceTheyAreMany) {
  publications_.begin(at(0));
  for (int i = 0; i < 2000; ++i) {
    names_[0] = "gone" + std::to_string(i);
    fire(0, {1}, 1);
  }
  EXPECT_FALSE(latencies_.of("gone0"));
  EXPECT_TRUE(latencies_.of("gone1999"));
}

}  // namespace
}  // namespace gorgo::server
