#include "base/arithmetic.hpp"

#include <gtest/gtest.h>

namespace gorgo::arithmetic {
namespace {

constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
constexpr auto kMax = std::numeric_limits<std::int64_t>::max();

TEST(Compare, IntAgainstFloatIsExact) {
  EXPECT_TRUE(compare(Op::greater, Datum::of(std::int64_t{9007199254740993}),
                      Datum::of(9007199254740992.0)));
  EXPECT_FALSE(
      compare(Op::equal, Datum::of(std::int64_t{9007199254740993}), Datum::of(9007199254740992.0)));
  EXPECT_TRUE(compare(Op::less, Datum::of(kMax), Datum::of(9223372036854775808.0)));
  EXPECT_TRUE(compare(Op::equal, Datum::of(kMin), Datum::of(-9223372036854775808.0)));
  EXPECT_TRUE(compare(Op::less, Datum::of(std::int64_t{-1}), Datum::of(-0.5)));
  EXPECT_TRUE(compare(Op::greater, Datum::of(std::int64_t{-1}), Datum::of(-1.5)));
  EXPECT_TRUE(compare(Op::less, Datum::of(0.5), Datum::of(std::int64_t{1})));
  EXPECT_TRUE(compare(Op::equal, Datum::of(-0.0), Datum::of(std::int64_t{0})));
}

TEST(Compare, NanIsOnlyUnequalAndNoValueNeverHolds) {
  const Datum nan = Datum::of(std::nan(""));
  for (const Op op : {Op::equal, Op::less, Op::less_equal, Op::greater, Op::greater_equal}) {
    EXPECT_FALSE(compare(op, nan, nan));
    EXPECT_FALSE(compare(op, Datum::none(), Datum::of(std::int64_t{1})));
  }
  EXPECT_TRUE(compare(Op::not_equal, nan, nan));
  EXPECT_TRUE(compare(Op::not_equal, nan, Datum::of(std::int64_t{1})));
  EXPECT_FALSE(compare(Op::not_equal, Datum::none(), Datum::of(std::int64_t{1})));
}

TEST(Compare, StringsByBytes) {
  EXPECT_TRUE(compare(Op::less, Datum::of("Z"), Datum::of("a")));
  EXPECT_TRUE(compare(Op::less, Datum::of("a"), Datum::of("\xC3\xA4")));
  EXPECT_TRUE(compare(Op::contains, Datum::of("smoke"), Datum::of("")));
  EXPECT_TRUE(compare(Op::contains, Datum::of("smoke"), Datum::of("mok")));
  EXPECT_FALSE(compare(Op::contains, Datum::of("smoke"), Datum::of("Mok")));
}

TEST(Calculate, IntsOverflowToNoValue) {
  EXPECT_FALSE(calculate(Op::add, Datum::of(kMax), Datum::of(std::int64_t{1})).exists());
  EXPECT_FALSE(calculate(Op::subtract, Datum::of(kMin), Datum::of(std::int64_t{1})).exists());
  EXPECT_FALSE(calculate(Op::multiply, Datum::of(kMin), Datum::of(std::int64_t{-1})).exists());
  EXPECT_FALSE(calculate(Op::divide, Datum::of(kMin), Datum::of(std::int64_t{-1})).exists());
  EXPECT_FALSE(
      calculate(Op::divide, Datum::of(std::int64_t{1}), Datum::of(std::int64_t{0})).exists());
  EXPECT_FALSE(negate(Datum::of(kMin)).exists());
  EXPECT_EQ(calculate(Op::divide, Datum::of(std::int64_t{-7}), Datum::of(std::int64_t{2})).integer,
            -3);
}

TEST(Calculate, FloatsAreIeee) {
  EXPECT_EQ(calculate(Op::divide, Datum::of(1.0), Datum::of(0.0)).floating,
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(calculate(Op::add, Datum::of(std::int64_t{1}), Datum::of(0.5)).floating, 1.5);
}

TEST(Convert, FloatToIntTruncatesOrHasNoValue) {
  EXPECT_EQ(to_int(Datum::of(-1.9)).integer, -1);
  EXPECT_EQ(to_int(Datum::of(-9223372036854775808.0)).integer, kMin);
  EXPECT_FALSE(to_int(Datum::of(9223372036854775808.0)).exists());
  EXPECT_FALSE(to_int(Datum::of(std::nan(""))).exists());
}

TEST(Saturate, AtBothEnds) {
  EXPECT_EQ(saturating_subtract(kMin + 1, 2), kMin);
  EXPECT_EQ(saturating_add(kMax - 1, 2), kMax);
  EXPECT_EQ(saturating_subtract(10, 2), 8);
}

}  // namespace
}  // namespace gorgo::arithmetic
