#include "functions/times.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "codec/time_zone.hpp"
#include "codec/timestamp.hpp"
#include "functions/computed_texts.hpp"

namespace gorgo::functions {
namespace {

constexpr Duration kHour = 3'600'000'000'000;

Timestamp at(const char* text) { return *codec::parse_rfc3339(text); }

Datum truncated(Timestamp time, Duration width, const char* zone) {
  const auto found = codec::find_zone(zone);
  EXPECT_TRUE(found);
  return call_on_time(Function::truncate, std::array{Datum::of(time), Datum::of(width)}, *found);
}

std::string text(const Datum& time) {
  std::string out;
  codec::append_rfc3339(out, time.integer);
  return out;
}

TEST(Times, AnHourThatComesTwiceHasTwoBeginnings) {
  // On 25 October 2026 the clocks of Rome go from 3 back to 2 at 01:00 UTC.
  EXPECT_EQ(text(truncated(at("2026-10-25T00:30:00Z"), kHour, "Europe/Rome")),
            "2026-10-25T00:00:00Z");
  EXPECT_EQ(text(truncated(at("2026-10-25T01:30:00Z"), kHour, "Europe/Rome")),
            "2026-10-25T01:00:00Z");
}

TEST(Times, ADayThatBeginsWithAGapBeginsBehindIt) {
  // In Beirut the clocks go from 0 to 1 at midnight.
  EXPECT_EQ(text(truncated(at("2026-03-29T12:00:00Z"), 24 * kHour, "Asia/Beirut")),
            "2026-03-28T22:00:00Z");
}

TEST(Times, ADayWhoseFirstHourComesTwiceBeginsOnce) {
  // On 26 October 2025 the clocks of the Azores go from 1 back to 0 at 01:00 UTC.
  for (const char* time : {"2025-10-26T00:00:00Z", "2025-10-26T00:30:00Z", "2025-10-26T01:30:00Z",
                           "2025-10-26T12:00:00Z", "2025-10-27T00:59:59Z"}) {
    EXPECT_EQ(text(truncated(at(time), 24 * kHour, "Atlantic/Azores")), "2025-10-26T00:00:00Z");
  }
  EXPECT_EQ(text(truncated(at("2025-10-27T01:00:00Z"), 24 * kHour, "Atlantic/Azores")),
            "2025-10-27T01:00:00Z");
}

TEST(Times, ASpanIntoWhichClocksArePutBackComesAgain) {
  // From 1:30 to 2:15 on the clocks of Rome, which go from 3 back to 2.
  const auto span = [](const char* time) {
    return text(truncated(at(time), kHour * 3 / 4, "Europe/Rome"));
  };
  EXPECT_EQ(span("2026-10-25T00:10:00Z"), "2026-10-24T23:30:00Z");
  EXPECT_EQ(span("2026-10-25T00:50:00Z"), "2026-10-25T00:15:00Z");
  EXPECT_EQ(span("2026-10-25T01:10:00Z"), "2026-10-25T01:00:00Z");
  EXPECT_EQ(span("2026-10-25T01:20:00Z"), "2026-10-25T01:15:00Z");
}

class Spans : public testing::TestWithParam<const char*> {};

TEST_P(Spans, BeginInTheOrderOfTheirTimes) {
  const char* const zone = GetParam();
  for (const Duration width : {kHour / 3, kHour / 2, kHour * 3 / 4, kHour, kHour * 3 / 2, 3 * kHour,
                               5 * kHour, 24 * kHour, 168 * kHour}) {
    Timestamp before = std::numeric_limits<Timestamp>::min();
    // All clocks that change do so within a year.
    for (Timestamp time = at("2025-01-01T00:00:00Z"); time < at("2026-01-01T00:00:00Z");
         time += kHour / 12) {
      const Timestamp begin = truncated(time, width, zone).integer;
      ASSERT_LE(begin, time) << width;
      ASSERT_LE(before, begin) << width << " " << text(Datum::of(time));
      // Half an hour may be twice in a span, and a span of a week an hour longer.
      ASSERT_LT(time - begin, width + kHour) << width;
      ASSERT_EQ(truncated(begin, width, zone).integer, begin) << width;
      before = begin;
    }
  }
}

TEST_P(Spans, OfADayAreThoseOfTheCalendar) {
  const auto zone = *codec::find_zone(GetParam());
  const auto date_of = [&](Timestamp time) {
    const ComputedTexts texts;
    return std::string(call_on_time(Function::date, std::array{Datum::of(time)}, zone).text());
  };
  std::map<std::string, Timestamp> days;
  for (Timestamp time = at("2025-01-01T00:00:00Z"); time < at("2027-01-01T00:00:00Z");
       time += kHour / 4) {
    const Timestamp begin = truncated(time, 24 * kHour, GetParam()).integer;
    ASSERT_EQ(days.try_emplace(date_of(time), begin).first->second, begin) << date_of(time);
  }
  // Two days that begin at one time would be one.
  std::set<Timestamp> begins;
  for (const auto& [date, begin] : days) EXPECT_TRUE(begins.insert(begin).second) << date;
}

INSTANTIATE_TEST_SUITE_P(Of, Spans,
                         testing::Values("UTC", "Europe/Rome", "Asia/Beirut", "Atlantic/Azores",
                                         "America/Havana", "Australia/Lord_Howe", "Africa/Cairo"));

TEST(Times, TheEndsOfTheRangeHaveFields) {
  const ComputedTexts texts;
  constexpr auto kLeast = std::numeric_limits<Timestamp>::min();
  constexpr auto kGreatest = std::numeric_limits<Timestamp>::max();
  const auto field = [](Function function, Timestamp time) {
    return call_on_time(function, std::array{Datum::of(time)}, nullptr);
  };
  EXPECT_EQ(field(Function::date, kLeast).text(), "1677-09-21");
  EXPECT_EQ(field(Function::second, kLeast).integer, 43);
  EXPECT_EQ(field(Function::date, kGreatest).text(), "2262-04-11");
  EXPECT_FALSE(truncated(kLeast, 24 * kHour, "UTC").exists());
  EXPECT_EQ(text(truncated(kGreatest, 24 * kHour, "UTC")), "2262-04-11T00:00:00Z");
}

}  // namespace
}  // namespace gorgo::functions
