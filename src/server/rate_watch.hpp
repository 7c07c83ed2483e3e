#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <vector>

#include "gorgo/processor.hpp"

namespace gorgo::server {

/// What rules have to do in a second, from counters that are read now and then. Used by one thread.
class RateWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Counters = std::vector<RuleCounters>;
  /// Of the rules, in their order, as they are now.
  using Read = std::function<Counters()>;
  /// Rates are averages over at least so long, where the rules are as old as that.
  static constexpr std::chrono::seconds kAverage{1};

  RateWatch(Read read, Time now);

  /// The rules are others now.
  void restart(Time now);
  /// To be called between batches: reads the counters when that is due.
  void look(Time now);
  /// How long until `look` has something to do.
  std::chrono::nanoseconds due_in(Time now) const { return std::max(due_, now) - now; }
  /// Of the last `kAverage` and what passed since the counters were read before that; by rule.
  std::vector<RuleRates> rates(Time now) const;

 private:
  struct Sample {
    Time time;
    Counters counters;
  };

  Read read_;
  std::array<Sample, 2> samples_;  // the older one first
  Time due_;
};

}  // namespace gorgo::server
