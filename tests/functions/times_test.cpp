#include "functions/times.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

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

TEST(Times, ABeginningIsNeverLaterThanTheTime) {
  for (const char* zone : {"UTC", "Europe/Rome", "Asia/Beirut", "Australia/Lord_Howe"}) {
    for (Timestamp time = at("2026-01-01T00:00:00Z"); time < at("2027-01-01T00:00:00Z");
         time += kHour / 4) {
      for (const Duration width : {kHour / 2, kHour, 24 * kHour, 168 * kHour}) {
        const Datum begin = truncated(time, width, zone);
        ASSERT_LE(begin.integer, time) << zone << " " << width;
        // Half an hour may be twice in a span, and a span of a week an hour longer.
        ASSERT_LT(time - begin.integer, width + kHour) << zone << " " << width;
        ASSERT_EQ(truncated(begin.integer, width, zone).integer, begin.integer) << zone;
      }
    }
  }
}

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
