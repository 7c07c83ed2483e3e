#include "actions/pace.hpp"

#include <gtest/gtest.h>

namespace gorgo::actions {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const Time kStart = std::chrono::steady_clock::now() + minutes(1);

TEST(Pause, GrowsToAMinuteAndIsAnyTimeBelow) {
  std::minstd_rand random(1);
  milliseconds longest[12] = {};
  for (int i = 0; i < 2000; ++i) {
    for (unsigned failures = 1; failures < 12; ++failures) {
      longest[failures] = std::max(longest[failures], pause_after(failures, random));
    }
  }
  EXPECT_LE(longest[1], seconds(1));
  EXPECT_GT(longest[1], milliseconds(900));
  EXPECT_LE(longest[3], seconds(4));
  EXPECT_GT(longest[3], seconds(3));
  EXPECT_LE(longest[11], seconds(60));
  EXPECT_GT(longest[11], seconds(50));
}

TEST(CircuitBreaker, LetsOneThroughAtATimeUntilItSucceeds) {
  std::minstd_rand random(1);
  CircuitBreaker breaker;
  for (unsigned i = 0; i < CircuitBreaker::kFailures; ++i) {
    EXPECT_EQ(breaker.admits(32, kStart), 32u);
    breaker.failed(kStart, random);
  }
  EXPECT_TRUE(breaker.is_open());
  const Time next = breaker.next();
  breaker.failed(kStart, random);  // it was on its way already
  EXPECT_EQ(breaker.next(), next);
  EXPECT_EQ(breaker.admits(32, next - milliseconds(1)), 0u);
  EXPECT_EQ(breaker.admits(32, next), 1u);
  breaker.succeeded();
  EXPECT_EQ(breaker.admits(32, kStart), 32u);
}

TEST(CircuitBreaker, FailuresBetweenSuccessesDoNotOpenIt) {
  std::minstd_rand random(1);
  CircuitBreaker breaker;
  for (int i = 0; i < 100; ++i) {
    breaker.failed(kStart, random);
    if (i % 4 == 3) breaker.succeeded();
  }
  EXPECT_FALSE(breaker.is_open());
}

TEST(RateLimit, AllowsAMinutesWorthAtOnceAndThenAsTheMinuteGoes) {
  RateLimit limit(60);
  EXPECT_EQ(limit.admits(100, kStart), 60u);
  limit.take(60);
  EXPECT_EQ(limit.admits(1, kStart), 0u);
  EXPECT_GT(limit.next(), kStart + milliseconds(900));
  EXPECT_LE(limit.next(), kStart + milliseconds(1100));
  EXPECT_EQ(limit.admits(100, kStart + milliseconds(2500)), 2u);
  EXPECT_EQ(limit.admits(100, kStart + minutes(5)), 60u);
}

TEST(RateLimit, NoneIsNone) {
  RateLimit limit(0);
  EXPECT_EQ(limit.admits(100'000, kStart), 100'000u);
  limit.take(100'000);
  EXPECT_EQ(limit.admits(5, kStart), 5u);
}

}  // namespace
}  // namespace gorgo::actions
