#include "codec/time_format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/timestamp.hpp"

namespace gorgo::codec {
namespace {

using testing::HasSubstr;

/// The time that a text means, as RFC 3339, or "! " and the error.
std::string read(const std::string& format, const std::string& zone, std::string_view text) {
  const auto times = TimeFormat::make(format, zone);
  if (!times) return "! " + times.error().to_string();
  const auto time = times->parse(text);
  if (!time) return "! " + time.error().message;
  std::string spelt;
  append_rfc3339(spelt, *time);
  return spelt;
}

TEST(TimeFormat, ReadsUnitsSince1970) {
  EXPECT_EQ(read("s", "", "1714557600"), "2024-05-01T10:00:00Z");
  EXPECT_EQ(read("s", "", "1714557600.000000001"), "2024-05-01T10:00:00.000000001Z");
  EXPECT_EQ(read("ms", "", "-1"), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(read("us", "", "1714557600000000.5"), "2024-05-01T10:00:00.0000005Z");
  EXPECT_EQ(read("ns", "", "1714557600000000001"), "2024-05-01T10:00:00.000000001Z");
  EXPECT_THAT(read("ns", "", "1.5"), HasSubstr("finer than a nanosecond"));
  EXPECT_THAT(read("s", "", "1e9"), HasSubstr("not a plain decimal number"));
  EXPECT_THAT(read("s", "", "99999999999"), HasSubstr("out of range"));
}

TEST(TimeFormat, ReadsDatesInATimeZone) {
  EXPECT_EQ(read("date time", "", "2024-05-01 12:00:00"), "2024-05-01T12:00:00Z");
  EXPECT_EQ(read("date time", "Europe/Rome", "2024-05-01T12:00:00.25"), "2024-05-01T10:00:00.25Z");
  EXPECT_EQ(read("%d/%m/%Y %H.%M", "Europe/Rome", "31/12/2024 00.30"), "2024-12-30T23:30:00Z");
  EXPECT_EQ(read("%Y-%m-%d", "", "2024-05-01"), "2024-05-01T00:00:00Z");
  EXPECT_EQ(read("%Y-%m-%dT%H:%M:%S%z", "", "2024-05-01T12:00:00+0200"), "2024-05-01T10:00:00Z");
}

TEST(TimeFormat, ReadsOffsetsInEachOfTheirSpellings) {
  for (const std::string offset : {"+0200", "+02:00", "+02"}) {
    EXPECT_EQ(read("%FT%T%z", "", "2024-05-01T12:00:00" + offset), "2024-05-01T10:00:00Z")
        << offset;
  }
  EXPECT_EQ(read("%FT%T%z", "Europe/Rome", "2024-05-01T12:00:00Z"), "2024-05-01T12:00:00Z");
  EXPECT_EQ(read("%FT%T%Ez", "", "2024-05-01T12:00:00-01:30"), "2024-05-01T13:30:00Z");
  EXPECT_EQ(read("%z %F", "", "+02:00 2024-05-01"), "2024-04-30T22:00:00Z");
  EXPECT_EQ(read("%F %%z", "", "2024-05-01 %z"), "2024-05-01T00:00:00Z");
  EXPECT_THAT(read("%FT%T%z", "", "2024-05-01T12:00:00"), HasSubstr("is no time of the form"));
  const auto times = TimeFormat::make("%FT%T%z", "");
  for (const char* text : {"2024-05-01T12:00:00Z", "2024-05-01T12:00:00+02:00",
                           "2024-05-01T12:00:00-0100", "2024-05-01T12:00:00Z"}) {
    EXPECT_TRUE(times->parse(text)) << text;
  }
}

TEST(TimeFormat, RefusesAPatternWithoutADate) {
  EXPECT_THAT(read("%b %d %H:%M:%S", "", ""),
              HasSubstr("! the pattern '%b %d %H:%M:%S' has no year ("));
  EXPECT_THAT(read("%Y", "", ""), HasSubstr("has no month and day"));
  EXPECT_THAT(read("%Y-%m", "", ""), HasSubstr("has no day"));
  EXPECT_THAT(read("%H:%M", "", ""), HasSubstr("has no year, month and day"));
  EXPECT_THAT(read("%s", "", ""), HasSubstr("the format s reads seconds since 1970"));
  EXPECT_THAT(read("%Y %%d %%m", "", ""), HasSubstr("has no month and day"));
  EXPECT_EQ(read("%Y-%j", "", "2024-122"), "2024-05-01T00:00:00Z");
  EXPECT_EQ(read("%G-W%V-%u", "", "2024-W18-3"), "2024-05-01T00:00:00Z");
  EXPECT_EQ(read("%D", "", "05/01/24"), "2024-05-01T00:00:00Z");
}

TEST(TimeFormat, KnowsWhenClocksAreChanged) {
  // At 3:00 the clocks of Rome went back to 2:00, and at 2:00 forward to 3:00.
  EXPECT_EQ(read("date time", "Europe/Rome", "2024-10-27 02:30:00"), "2024-10-27T00:30:00Z");
  EXPECT_EQ(read("date time", "Europe/Rome", "2024-10-27 03:00:00"), "2024-10-27T02:00:00Z");
  EXPECT_THAT(read("date time", "Europe/Rome", "2024-03-31 02:30:00"),
              HasSubstr("there is no time '2024-03-31 02:30:00' in Europe/Rome"));
}

TEST(TimeFormat, RefusesWhatIsNoTime) {
  for (const char* text : {"", "2024-05-01", "2024-05-01 12:00:00x", "2024-13-01 12:00:00",
                           "2024-02-30 12:00:00", "2024-05-01 24:30:00", "yesterday"}) {
    EXPECT_THAT(read("date time", "", text), HasSubstr("is no time of the form")) << text;
  }
  EXPECT_THAT(read("date time", "", "1500-01-01 00:00:00"), HasSubstr("out of range"));
  EXPECT_THAT(read("date time", "", "2900-01-01 00:00:00"), HasSubstr("out of range"));
}

TEST(TimeFormat, SaysWhatIsWrongWithAFormatOrAZone) {
  EXPECT_THAT(read("minutes", "", "1"), HasSubstr("'minutes' is no format of times"));
  EXPECT_THAT(read("date time", "Europe/Roma", "1"), HasSubstr("there is no time zone"));
  EXPECT_THAT(read("ms", "Europe/Rome", "1"), HasSubstr("have no time zone"));
}

}  // namespace
}  // namespace gorgo::codec
