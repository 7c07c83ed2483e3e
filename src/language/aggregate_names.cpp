#include "language/aggregate_names.hpp"

#include <algorithm>
#include <array>

#include "language/literal.hpp"

namespace gorgo::language {
namespace {

struct AggregateName {
  std::string_view spelling, capitals;
  AggregateFunction function;
  std::string_view says;
};
constexpr std::array<AggregateName, 14> kAggregates = {
    {{"Avg", "AVG", AggregateFunction::avg, "The mean."},
     {"Sum", "SUM", AggregateFunction::sum, "The sum, exact and rounded once."},
     {"Min", "MIN", AggregateFunction::min, "The least value that is no NaN."},
     {"Max", "MAX", AggregateFunction::max, "The greatest value that is no NaN."},
     {"Count", "COUNT", AggregateFunction::count,
      "The number of events, or of those that have the attribute."},
     {"Variance", "VARIANCE", AggregateFunction::variance, "The variance of a sample."},
     {"VariancePop", "VARIANCEPOP", AggregateFunction::variance_pop,
      "The variance of a population."},
     {"StdDev", "STDDEV", AggregateFunction::std_dev, "The standard deviation of a sample."},
     {"StdDevPop", "STDDEVPOP", AggregateFunction::std_dev_pop,
      "The standard deviation of a population."},
     {"Median", "MEDIAN", AggregateFunction::median,
      "The value in the middle, or between the two in the middle."},
     {"Percentile", "PERCENTILE", AggregateFunction::percentile,
      "The value below which so many percent lie, interpolated linearly: Percentile(Temp().value "
      "within 1 h from A, 95)."},
     {"CountDistinct", "COUNTDISTINCT", AggregateFunction::count_distinct,
      "The number of different values."},
     {"First", "FIRST", AggregateFunction::first, "The value of the oldest event."},
     {"Last", "LAST", AggregateFunction::last, "The value of the newest event."}}};

}  // namespace

std::optional<AggregateFunction> aggregate_function(const std::string& word) {
  const std::string lower = lower_case(word);
  const auto* found = std::ranges::find_if(
      kAggregates, [&](const auto& name) { return lower == lower_case(name.spelling); });
  return found == kAggregates.end() ? std::nullopt : std::optional(found->function);
}

std::string_view spelling(AggregateFunction function) {
  return std::ranges::find(kAggregates, function, &AggregateName::function)->spelling;
}

std::string_view to_string(AggregateFunction function) {
  return std::ranges::find(kAggregates, function, &AggregateName::function)->capitals;
}

std::string_view meaning(AggregateFunction function) {
  return std::ranges::find(kAggregates, function, &AggregateName::function)->says;
}

const std::vector<std::string>& aggregate_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const AggregateName& name : kAggregates) all.emplace_back(name.spelling);
    return all;
  }();
  return names;
}

std::string aggregate_names(bool (*is_meant)(AggregateFunction)) {
  std::string line, last;
  for (const AggregateName& name : kAggregates) {
    if (!is_meant(name.function)) continue;
    if (!last.empty()) line += (line.empty() ? "" : ", ") + last;
    last = name.spelling;
  }
  return line.empty() ? last : line + " and " + last;
}

}  // namespace gorgo::language
