#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/exact_sum.hpp"
#include "base/int128.hpp"
#include "gorgo/rule.hpp"
#include "history/event_store.hpp"

namespace gorgo::engine {

constexpr bool adds_up(AggregateFunction function) {
  return function == AggregateFunction::sum || function == AggregateFunction::avg;
}

/// The best value so far of MIN or MAX, with one value more; NaN is none. No value: there is none
/// yet.
Datum best_of(AggregateFunction function, const Datum& best, const Datum& value);

/// An aggregate under construction (language.md §6): add the values of the events, in any order;
/// for FIRST and LAST in the order of the events. Strings must stay until the result is read, and a
/// result that is a string refers to what was added.
class Aggregation {
 public:
  /// `input` is the type of the aggregated attribute; unused for COUNT. `percent`, from 0 to 100,
  /// is for PERCENTILE.
  Aggregation(AggregateFunction function, ValueType input, double percent = 50)
      : function_(function), input_(input), percent_(percent) {}
  /// Over events of the store.
  Aggregation(const Aggregate& aggregate, const history::EventStore& store);

  /// Adds the attribute's value of one event; an event that lacks it does not count. For COUNT of
  /// events pass any value.
  void add(const Datum& value);
  /// Adds `count` values at once: ints, whose sum is `sum`, or for COUNT values of any type.
  void add_all(std::uint64_t count, Int128 sum) {
    count_ += count;
    integer_sum_ += sum;
  }
  /// Adds floats at once, for SUM or AVG.
  void add_all(std::span<const double> floats) {
    count_ += floats.size();
    float_sum_.add(floats);
  }
  /// Adds `count` floats at once, whose sum is that of `upto` less that of `before`.
  void add_all(std::uint64_t count, const ExactSum& upto, const ExactSum& before) {
    count_ += count;
    float_sum_.add_difference(upto, before);
  }
  /// Adds `count` values at once, for MIN or MAX. `extreme` is the best of them that is no NaN; it
  /// does not exist if all are NaN.
  void add_all(std::uint64_t count, const Datum& extreme) {
    count_ += count;
    if (extreme.exists()) extreme_ = best_of(function_, extreme_, extreme);
  }
  /// Adds `count` floats, whose sum is `sum`. Precondition: nothing was added before.
  void add_all(std::uint64_t count, const ExactSum& sum) {
    count_ += count;
    float_sum_ = sum;
  }
  Datum result() const;

 private:
  Datum extreme() const;
  Datum sum() const;
  Datum average() const;

  AggregateFunction function_;
  ValueType input_;
  std::uint64_t count_ = 0;
  Int128 integer_sum_ = 0;
  ExactSum float_sum_;
  Datum extreme_;  // the least or greatest value that is no NaN; for FIRST and LAST the one
  double percent_;
  std::vector<Datum> values_;  // of the functions that need all of them
};

}  // namespace gorgo::engine
