#include "server/log_limit.hpp"

#include <gtest/gtest.h>

namespace gorgo::server {
namespace {

constexpr auto kStart = LogLimit::Time() + std::chrono::hours(1);

TEST(LogLimit, TheFirstTimeIsToldAtOnceAndThePauseHoldsTheOthersBack) {
  LogLimit limit;
  EXPECT_EQ(limit.note(1, kStart), 1u);
  EXPECT_EQ(limit.note(1, kStart), std::nullopt);
  EXPECT_EQ(limit.note(5, kStart + LogLimit::kPause / 2), std::nullopt);
  EXPECT_EQ(limit.note(2, kStart + LogLimit::kPause), 8u);
  EXPECT_EQ(limit.note(1, kStart + LogLimit::kPause), std::nullopt);
}

TEST(LogLimit, WhatWasHeldBackIsToldBehindThePauseAlthoughNothingFollows) {
  LogLimit limit;
  EXPECT_EQ(limit.note(0, kStart), std::nullopt);
  EXPECT_EQ(limit.note(1, kStart), 1u);
  EXPECT_EQ(limit.note(2, kStart), std::nullopt);
  EXPECT_EQ(limit.note(0, kStart + LogLimit::kPause), 2u);
  EXPECT_EQ(limit.note(0, kStart + 2 * LogLimit::kPause), std::nullopt);
}

TEST(LogLimit, WhatWasHeldBackCanBeToldAtTheEnd) {
  LogLimit limit;
  EXPECT_EQ(limit.take_unsaid(), 0u);
  limit.note(3, kStart);
  EXPECT_EQ(limit.take_unsaid(), 0u);
  limit.note(3, kStart);
  limit.note(4, kStart);
  EXPECT_EQ(limit.take_unsaid(), 7u);
  EXPECT_EQ(limit.take_unsaid(), 0u);
}

}  // namespace
}  // namespace gorgo::server
