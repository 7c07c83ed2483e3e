#pragma once

#include <cstdint>
#include <span>

#include "gorgo/rule.hpp"
#include "gorgo/value.hpp"

/// Aggregates that need all values at once. The order of the values never matters. All values
/// exist.
namespace gorgo::engine {

/// How many values differ, of the type `type`. All NaNs count as one value, as both zeros do.
std::int64_t count_distinct(std::span<const Datum> values, ValueType type);

/// The value below which `percent` of the numbers lie, as a float: between the two nearest by rank
/// it is interpolated linearly (R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical
/// Packages", The American Statistician 50, 1996, definition 7). NaNs are left out; NaN if there is
/// nothing else, no value if there is nothing at all.
Datum percentile(std::span<const Datum> values, double percent);

/// Variance or standard deviation of a sample or a population, by two passes with a correction (T.
/// Chan, G. Golub and R. LeVeque, "Algorithms for Computing the Sample Variance", The American
/// Statistician 37, 1983). The sums of the values, of their deviations and of the squares of these
/// are exact. No value for fewer than two values of a sample or one of a population.
Datum spread(AggregateFunction function, std::span<const Datum> values);

}  // namespace gorgo::engine
