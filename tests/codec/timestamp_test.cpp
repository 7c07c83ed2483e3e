#include "codec/timestamp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace gorgo::codec {
namespace {

using testing::HasSubstr;

constexpr Timestamp kMax = std::numeric_limits<Timestamp>::max();
constexpr Timestamp kMin = std::numeric_limits<Timestamp>::min();

std::string milliseconds_of(Timestamp timestamp) {
  std::string out;
  append_milliseconds(out, timestamp);
  return out;
}

TEST(Milliseconds, AreReadExactly) {
  EXPECT_EQ(*parse_milliseconds("0"), 0);
  EXPECT_EQ(*parse_milliseconds("1000"), 1'000'000'000);
  EXPECT_EQ(*parse_milliseconds("-1"), -1'000'000);
  EXPECT_EQ(*parse_milliseconds("0.000001"), 1);
  EXPECT_EQ(*parse_milliseconds("-0.000001"), -1);
  EXPECT_EQ(*parse_milliseconds("-0.5"), -500'000);
  EXPECT_EQ(*parse_milliseconds("1714564800000.123456"), 1'714'564'800'000'123'456);
}

TEST(Milliseconds, ReachTheEndsOfTheRange) {
  EXPECT_EQ(*parse_milliseconds("9223372036854.775807"), kMax);
  EXPECT_EQ(*parse_milliseconds("-9223372036854.775808"), kMin);
  EXPECT_THAT(parse_milliseconds("9223372036854.775808").error().message,
              HasSubstr("out of range"));
  EXPECT_FALSE(parse_milliseconds("-9223372036854.775809"));
  EXPECT_FALSE(parse_milliseconds("9223372036855"));
  EXPECT_FALSE(parse_milliseconds("123456789012345678901234567890"));
  EXPECT_FALSE(from_milliseconds(9'223'372'036'855));
  EXPECT_EQ(*from_milliseconds(-9'223'372'036'854), -9'223'372'036'854'000'000);
}

TEST(Milliseconds, RefuseEveryOtherSpelling) {
  for (const auto* text : {"", "-", "1e3", "1E3", ".5", "5.", "+1", "1,5", " 1", "0x10", "--1"}) {
    EXPECT_THAT(parse_milliseconds(text).error().message, HasSubstr("not a plain decimal")) << text;
  }
  EXPECT_THAT(parse_milliseconds("0.0000001").error().message, HasSubstr("finer"));
}

TEST(Milliseconds, AreWrittenWholeWhenWhole) {
  EXPECT_EQ(milliseconds_of(0), "0");
  EXPECT_EQ(milliseconds_of(1'000'000'000), "1000");
  EXPECT_EQ(milliseconds_of(1), "0.000001");
  EXPECT_EQ(milliseconds_of(-1), "-0.000001");
  EXPECT_EQ(milliseconds_of(2'500'000), "2.5");
  EXPECT_EQ(milliseconds_of(kMax), "9223372036854.775807");
  EXPECT_EQ(milliseconds_of(kMin), "-9223372036854.775808");
}

TEST(Rfc3339, ReadsOffsetsAndFractions) {
  EXPECT_EQ(*parse_rfc3339("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(*parse_rfc3339("2024-05-01T12:00:00Z"), 1'714'564'800'000'000'000);
  EXPECT_EQ(*parse_rfc3339("2024-05-01T14:00:00+02:00"), 1'714'564'800'000'000'000);
  EXPECT_EQ(*parse_rfc3339("2024-05-01T06:30:00-05:30"), 1'714'564'800'000'000'000);
  EXPECT_EQ(*parse_rfc3339("2024-05-01t12:00:00.123456789z"), 1'714'564'800'123'456'789);
  EXPECT_EQ(*parse_rfc3339("1969-12-31T23:59:59.5Z"), -500'000'000);
  EXPECT_EQ(*parse_rfc3339("2024-02-29 00:00:00Z"), 1'709'164'800'000'000'000);
}

TEST(Rfc3339, RefusesWhatDoesNotExist) {
  EXPECT_THAT(parse_rfc3339("2016-12-31T23:59:60Z").error().message, HasSubstr("leap second"));
  EXPECT_THAT(parse_rfc3339("2023-02-29T00:00:00Z").error().message, HasSubstr("does not exist"));
  EXPECT_THAT(parse_rfc3339("2023-01-01T24:00:00Z").error().message, HasSubstr("does not exist"));
  EXPECT_THAT(parse_rfc3339("2023-13-01T00:00:00Z").error().message, HasSubstr("does not exist"));
  EXPECT_THAT(parse_rfc3339("2023-01-01T00:00:00.0123456789Z").error().message, HasSubstr("finer"));
  EXPECT_THAT(parse_rfc3339("2300-01-01T00:00:00Z").error().message, HasSubstr("out of range"));
  EXPECT_THAT(parse_rfc3339("1600-01-01T00:00:00Z").error().message, HasSubstr("out of range"));
}

TEST(Rfc3339, RefusesOtherShapes) {
  for (const auto* text :
       {"", "2024-05-01", "2024-05-01T12:00:00", "2024-05-01T12:00Z", "2024-05-01T12:00:00.Z",
        "2024-05-01T12:00:00+0200", "2024-05-01T12:00:00+24:00", "2024-05-01T12:00:00Z ",
        "24-05-01T12:00:00Z", "2024/05/01T12:00:00Z"}) {
    EXPECT_THAT(parse_rfc3339(text).error().message, HasSubstr("not an RFC 3339 time")) << text;
  }
}

TEST(AnyTimestamp, IsToldApartByItsShape) {
  EXPECT_EQ(*parse_timestamp("1970-01-01T00:00:01Z"), 1'000'000'000);
  EXPECT_EQ(*parse_timestamp("-1000"), -1'000'000'000);
  EXPECT_FALSE(parse_timestamp("yesterday"));
}

}  // namespace
}  // namespace gorgo::codec
