#include "engine/cuda/interval.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/arithmetic.hpp"
#include "cuda/search.hpp"
#include "floats.hpp"

namespace gorgo::engine {
namespace {

constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

/// Where neighbours, signs and the limits of exactness meet.
const std::vector<std::int64_t> kInts = {
    kLeast,           kLeast + 1,       -9007199254740993,   -2,        -1,   0, 1, 2,
    9007199254740992, 9007199254740993, 9223372036854774784, kMost - 1, kMost};
const std::vector<double> kFloats = {-kInfinity,
                                     -1e300,
                                     -9223372036854775808.0,
                                     -9007199254740992.0,
                                     -1.5,
                                     -1,
                                     -5e-324,
                                     -0.0,
                                     0.0,
                                     0.5,
                                     1,
                                     9007199254740992.0,
                                     9007199254740994.0,
                                     9223372036854774784.0,
                                     9223372036854775808.0,
                                     kInfinity,
                                     std::nan("")};

std::uint64_t word_of(const Datum& value) {
  return value.tag == Datum::Tag::floating ? std::bit_cast<std::uint64_t>(value.floating)
                                           : static_cast<std::uint64_t>(value.integer);
}

/// Every value of both types against every value of an attribute.
TEST(Interval, HoldsExactlyWhatTheComparisonAccepts) {
  std::vector<Datum> values;
  for (const std::int64_t value : kInts) values.push_back(Datum::of(value));
  for (const double value : kFloats) values.push_back(Datum::of(value));
  for (const Datum& attribute : values) {
    const bool floats = attribute.tag == Datum::Tag::floating;
    for (const Datum& value : values) {
      for (const Op op :
           {Op::equal, Op::not_equal, Op::less, Op::less_equal, Op::greater, Op::greater_equal}) {
        const bool negated = op == Op::not_equal;
        const Op inner = negated ? Op::equal : op;
        const gpu::Bounds bounds =
            floats ? interval_of_floats(inner, value) : interval_of_integers(inner, value);
        EXPECT_EQ(gpu::passes({.floats = floats, .negated = negated}, bounds, word_of(attribute)),
                  arithmetic::compare(op, attribute, value))
            << static_cast<int>(op) << " " << word_of(attribute) << " " << word_of(value);
      }
    }
  }
}

TEST(Interval, IsCutByAnother) {
  const auto band = intersection(true, interval_of_floats(Op::greater, Datum::of(1.0)),
                                 interval_of_floats(Op::less, Datum::of(2.0)));
  EXPECT_TRUE(gpu::passes({.floats = true}, band, word_of(Datum::of(1.5))));
  EXPECT_FALSE(gpu::passes({.floats = true}, band, word_of(Datum::of(1.0))));
  EXPECT_FALSE(gpu::passes({.floats = true}, band, word_of(Datum::of(2.0))));
  EXPECT_FALSE(is_empty(true, band));
  EXPECT_TRUE(
      is_empty(true, intersection(true, band, interval_of_floats(Op::less, Datum::of(1.0)))));
  EXPECT_TRUE(is_empty(false, interval_of_integers(Op::less, Datum::of(kLeast))));
}

}  // namespace
}  // namespace gorgo::engine
