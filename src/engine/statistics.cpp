#include "engine/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/arithmetic.hpp"
#include "base/exact_sum.hpp"
#include "history/key.hpp"

namespace gorgo::engine {
namespace {

double as_float(const Datum& number) { return arithmetic::to_float(number).floating; }

std::int64_t count_texts(std::span<const Datum> values) {
  std::unordered_set<std::string_view> texts;
  for (const Datum& value : values) texts.insert(value.text());
  return static_cast<std::int64_t>(texts.size());
}

double mean_of(std::span<const Datum> values) {
  ExactSum sum;
  for (const Datum& value : values) sum.add(as_float(value));
  return sum.rounded() / static_cast<double>(values.size());
}

}  // namespace

std::int64_t count_distinct(std::span<const Datum> values, ValueType type) {
  if (type == ValueType::string) return count_texts(values);
  std::unordered_set<std::uint64_t> words;
  bool nans = false;
  for (const Datum& value : values) {
    const auto word = history::word_as(value, type);
    nans |= !word;
    if (word) words.insert(*word);
  }
  return static_cast<std::int64_t>(words.size()) + (nans ? 1 : 0);
}

Datum percentile(std::span<const Datum> values, double percent) {
  if (values.empty()) return Datum::none();
  std::vector<double> numbers;
  for (const Datum& value : values) {
    if (const double number = as_float(value); !std::isnan(number)) numbers.push_back(number);
  }
  if (numbers.empty()) return Datum::of(std::numeric_limits<double>::quiet_NaN());
  const double rank = percent / 100 * static_cast<double>(numbers.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(below);
  std::ranges::nth_element(numbers, at);
  const double low = *at + 0.0;  // a zero has no sign
  const double part = rank - static_cast<double>(below);
  if (part == 0 || at + 1 == numbers.end()) return Datum::of(low);
  const double high = *std::min_element(at + 1, numbers.end()) + 0.0;
  if (low == high) return Datum::of(low);
  return Datum::of(low * (1 - part) + high * part);
}

Datum spread(AggregateFunction function, std::span<const Datum> values) {
  const bool of_sample =
      function == AggregateFunction::variance || function == AggregateFunction::std_dev;
  if (values.size() < (of_sample ? 2 : 1)) return Datum::none();
  const double mean = mean_of(values);
  ExactSum deviations, squares;
  for (const Datum& value : values) {
    const double deviation = as_float(value) - mean;
    deviations.add(deviation);
    squares.add(deviation * deviation);
  }
  const auto count = static_cast<double>(values.size());
  const double rest = deviations.rounded();
  double sum = squares.rounded() - rest * rest / count;
  if (sum < 0) sum = 0;
  const double variance = sum / (of_sample ? count - 1 : count);
  const bool root =
      function == AggregateFunction::std_dev || function == AggregateFunction::std_dev_pop;
  return Datum::of(root ? std::sqrt(variance) : variance);
}

}  // namespace gorgo::engine
