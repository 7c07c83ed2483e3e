#include "engine/aggregation.hpp"

#include <cmath>
#include <limits>

#include "base/arithmetic.hpp"
#include "engine/statistics.hpp"

namespace gorgo::engine {

Datum best_of(AggregateFunction function, const Datum& best, const Datum& value) {
  if (value.tag == Datum::Tag::floating && std::isnan(value.floating)) return best;
  const Op better = function == AggregateFunction::min ? Op::less : Op::greater;
  return !best.exists() || arithmetic::compare(better, value, best) ? value : best;
}

Aggregation::Aggregation(const Aggregate& aggregate, const history::EventStore& store)
    : Aggregation(
          aggregate.function,
          aggregate.attribute ? store.attribute_type(*aggregate.attribute) : ValueType::integer,
          aggregate.percent) {}

void Aggregation::add(const Datum& value) {
  if (!value.exists()) return;
  ++count_;
  switch (function_) {
    case AggregateFunction::count:
      return;
    case AggregateFunction::min:
    case AggregateFunction::max:
      extreme_ = best_of(function_, extreme_, value);
      return;
    case AggregateFunction::sum:
    case AggregateFunction::avg:
      if (input_ == ValueType::integer) {
        integer_sum_ += value.integer;
      } else {
        float_sum_.add(value.floating);
      }
      return;
    case AggregateFunction::first:
      if (count_ == 1) extreme_ = value;
      return;
    case AggregateFunction::last:
      extreme_ = value;
      return;
    case AggregateFunction::count_distinct:
    case AggregateFunction::median:
    case AggregateFunction::percentile:
    case AggregateFunction::variance:
    case AggregateFunction::variance_pop:
    case AggregateFunction::std_dev:
    case AggregateFunction::std_dev_pop:
      values_.push_back(value);
  }
}

Datum Aggregation::result() const {
  switch (function_) {
    case AggregateFunction::count:
      return Datum::of(static_cast<std::int64_t>(count_));
    case AggregateFunction::sum:
      return sum();
    case AggregateFunction::avg:
      return average();
    case AggregateFunction::min:
    case AggregateFunction::max:
      return extreme();
    case AggregateFunction::first:
    case AggregateFunction::last:
      return extreme_;
    case AggregateFunction::count_distinct:
      return Datum::of(count_distinct(values_, input_));
    case AggregateFunction::median:
    case AggregateFunction::percentile:
      return percentile(values_, percent_);
    case AggregateFunction::variance:
    case AggregateFunction::variance_pop:
    case AggregateFunction::std_dev:
    case AggregateFunction::std_dev_pop:
      break;
  }
  return spread(function_, values_);
}

Datum Aggregation::extreme() const {
  if (count_ == 0) return Datum::none();
  if (!extreme_.exists()) return Datum::of(std::numeric_limits<double>::quiet_NaN());
  const bool zero = extreme_.tag == Datum::Tag::floating && extreme_.floating == 0.0;
  return zero ? Datum::of(0.0) : extreme_;
}

Datum Aggregation::sum() const {
  if (input_ == ValueType::floating) return Datum::of(float_sum_.rounded());
  const auto narrow = static_cast<std::int64_t>(integer_sum_);
  return narrow == integer_sum_ ? Datum::of(narrow) : Datum::none();
}

Datum Aggregation::average() const {
  if (count_ == 0) return Datum::none();
  const double total =
      input_ == ValueType::floating ? float_sum_.rounded() : static_cast<double>(integer_sum_);
  return Datum::of(total / static_cast<double>(count_));
}

}  // namespace gorgo::engine
