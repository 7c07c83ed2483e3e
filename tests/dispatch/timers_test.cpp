#include "dispatch/order/timers.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gorgo::dispatch {
namespace {

constexpr Timestamp kSecond = 1'000'000'000;
constexpr Timestamp kMinute = 60 * kSecond;
constexpr Timestamp kHour = 60 * kMinute;

TEST(TimerSchedule, MultiplesOfThePeriodOnBothSidesOfTheEpoch) {
  const TimerSchedule schedule(Timer{.every = 10});
  EXPECT_EQ(schedule.next_after(0), 10);
  EXPECT_EQ(schedule.next_after(9), 10);
  EXPECT_EQ(schedule.next_after(10), 20);
  EXPECT_EQ(schedule.next_after(-1), 0);
  EXPECT_EQ(schedule.next_after(-10), 0);
  EXPECT_EQ(schedule.next_after(-11), -10);
  EXPECT_EQ(schedule.count(-11, 20), 4u);
  EXPECT_EQ(schedule.count(10, 19), 0u);
  EXPECT_EQ(schedule.next_after(schedule.before_latest(2, 35)), 20);
}

TEST(TimerSchedule, FinerFieldsAreZeroAndCoarserAny) {
  const Timestamp day = 24 * kHour;
  EXPECT_EQ(TimerSchedule(Timer{.hour = 9}).next_after(0), 9 * kHour);
  EXPECT_EQ(TimerSchedule(Timer{.hour = 9}).next_after(9 * kHour), day + 9 * kHour);
  EXPECT_EQ(TimerSchedule(Timer{.minute = 30}).next_after(kHour), kHour + 30 * kMinute);
  EXPECT_EQ(TimerSchedule(Timer{.second = 15}).next_after(0), 15 * kSecond);
  EXPECT_EQ(TimerSchedule(Timer{.hour = 9, .second = 5}).next_after(0), 9 * kHour + 5 * kSecond);
}

TEST(TimerSchedule, TheEndOfTime) {
  const TimerSchedule schedule(Timer{.every = kHour});
  constexpr auto kEnd = std::numeric_limits<Timestamp>::max();
  EXPECT_EQ(schedule.next_after(kEnd), std::nullopt);
  EXPECT_GT(schedule.count(std::numeric_limits<Timestamp>::min(), kEnd), 5'000'000u);
}

}  // namespace
}  // namespace gorgo::dispatch
