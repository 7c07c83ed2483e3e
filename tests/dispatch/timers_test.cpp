#include "dispatch/order/timers.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "codec/time_zone.hpp"
#include "codec/timestamp.hpp"

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

Timestamp at(const char* rfc3339) { return *codec::parse_rfc3339(rfc3339); }

TimerSchedule in_rome(int hour, int minute) {
  return TimerSchedule(Timer{.hour = hour,
                             .minute = minute,
                             .zone = "Europe/Rome",
                             .clock = *codec::find_zone("Europe/Rome")});
}

TEST(TimerSchedule, DaysOfAZoneHaveTheLengthThatItsClocksSay) {
  const TimerSchedule midnight = in_rome(0, 0);
  EXPECT_EQ(midnight.next_after(at("2025-03-28T23:00:00Z")), at("2025-03-29T23:00:00Z"));
  EXPECT_EQ(midnight.next_after(at("2025-03-29T23:00:00Z")), at("2025-03-30T22:00:00Z"));
  EXPECT_EQ(midnight.next_after(at("2025-10-25T22:00:00Z")), at("2025-10-26T23:00:00Z"));
  EXPECT_EQ(midnight.count(at("2025-03-28T23:00:00Z"), at("2025-03-30T22:00:00Z")), 2u);
  EXPECT_EQ(midnight.count(at("2025-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z")), 365u);
  const Timestamp before = midnight.before_latest(2, at("2025-03-31T00:00:00Z"));
  EXPECT_EQ(midnight.next_after(before), at("2025-03-29T23:00:00Z"));
}

TEST(TimerSchedule, ATimeThatClocksShowTwiceCountsOnce) {
  const TimerSchedule timer = in_rome(2, 30);
  EXPECT_EQ(timer.next_after(at("2025-10-25T12:00:00Z")), at("2025-10-26T00:30:00Z"));
  EXPECT_EQ(timer.next_after(at("2025-10-26T00:30:00Z")), at("2025-10-27T01:30:00Z"));
  EXPECT_EQ(timer.next_after(at("2025-10-26T01:15:00Z")), at("2025-10-27T01:30:00Z"));
  EXPECT_EQ(timer.count(at("2025-10-26T00:30:00Z"), at("2025-10-26T01:30:00Z")), 0u);
}

TEST(TimerSchedule, ATimeThatClocksLeaveOutIsWhenTheyGoPastIt) {
  const TimerSchedule timer = in_rome(2, 30);
  EXPECT_EQ(timer.next_after(at("2025-03-29T12:00:00Z")), at("2025-03-30T01:00:00Z"));
  EXPECT_EQ(timer.next_after(at("2025-03-30T01:00:00Z")), at("2025-03-31T00:30:00Z"));
}

TEST(TimerSchedule, TheEndOfTime) {
  const TimerSchedule schedule(Timer{.every = kHour});
  constexpr auto kEnd = std::numeric_limits<Timestamp>::max();
  EXPECT_EQ(schedule.next_after(kEnd), std::nullopt);
  EXPECT_GT(schedule.count(std::numeric_limits<Timestamp>::min(), kEnd), 5'000'000u);
}

}  // namespace
}  // namespace gorgo::dispatch
