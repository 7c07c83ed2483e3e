#include "engine/aggregation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace gorgo::engine {
namespace {

constexpr auto kMax = std::numeric_limits<std::int64_t>::max();

Datum aggregate(AggregateFunction function, ValueType type, const std::vector<Datum>& values) {
  Aggregation aggregation(function, type);
  for (const Datum& value : values) aggregation.add(value);
  return aggregation.result();
}

Datum of_ints(AggregateFunction function, const std::vector<std::int64_t>& values) {
  std::vector<Datum> data;
  for (const auto v : values) data.push_back(Datum::of(v));
  return aggregate(function, ValueType::integer, data);
}

Datum of_floats(AggregateFunction function, const std::vector<double>& values) {
  std::vector<Datum> data;
  for (const auto v : values) data.push_back(Datum::of(v));
  return aggregate(function, ValueType::floating, data);
}

TEST(Aggregation, EmptySets) {
  EXPECT_EQ(of_ints(AggregateFunction::count, {}).integer, 0);
  EXPECT_EQ(of_ints(AggregateFunction::sum, {}).integer, 0);
  EXPECT_EQ(of_floats(AggregateFunction::sum, {}).floating, 0.0);
  EXPECT_FALSE(of_ints(AggregateFunction::avg, {}).exists());
  EXPECT_FALSE(of_ints(AggregateFunction::min, {}).exists());
  EXPECT_FALSE(of_floats(AggregateFunction::max, {}).exists());
}

TEST(Aggregation, IntSumsAreExactAndLeaveTheRangeAsNoValue) {
  EXPECT_EQ(of_ints(AggregateFunction::sum, {kMax, 1, -1}).integer, kMax);
  EXPECT_FALSE(of_ints(AggregateFunction::sum, {kMax, 1}).exists());
  EXPECT_EQ(of_ints(AggregateFunction::avg, {kMax, kMax}).floating, 9223372036854775808.0);
  EXPECT_EQ(of_ints(AggregateFunction::avg, {1, 2}).floating, 1.5);
}

TEST(Aggregation, FloatSumsDoNotDependOnTheOrder) {
  EXPECT_EQ(of_floats(AggregateFunction::sum, {1e100, 1.0, -1e100}).floating, 1.0);
  EXPECT_EQ(of_floats(AggregateFunction::avg, {1e100, 1.0, -1e100, 1.0}).floating, 0.5);
}

TEST(Aggregation, ExtremesIgnoreNanAndNormaliseZero) {
  const double nan = std::nan("");
  EXPECT_EQ(of_floats(AggregateFunction::min, {nan, 2.0, 1.0}).floating, 1.0);
  EXPECT_TRUE(std::isnan(of_floats(AggregateFunction::max, {nan, nan}).floating));
  EXPECT_FALSE(std::signbit(of_floats(AggregateFunction::max, {-0.0, -1.0}).floating));
  EXPECT_EQ(of_ints(AggregateFunction::max, {-5, -7}).integer, -5);
}

TEST(Aggregation, EventsThatLackTheAttributeDoNotCount) {
  const std::vector<Datum> values = {Datum::of(std::int64_t{4}), Datum::none()};
  EXPECT_EQ(aggregate(AggregateFunction::count, ValueType::integer, values).integer, 1);
  EXPECT_EQ(aggregate(AggregateFunction::avg, ValueType::integer, values).floating, 4.0);
}

}  // namespace
}  // namespace gorgo::engine
