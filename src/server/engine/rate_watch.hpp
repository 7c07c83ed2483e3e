#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "gorgo/processor.hpp"

namespace gorgo::server {

/// What rules have to do in a second, from counters that are read now and then. Used by one thread.
class RateWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Counters = std::vector<RuleCounters>;
  /// The counters of all rules, as they are now.
  using Read = std::function<Counters()>;
  /// Rates are averages over at least so long, where the rules are as old as that.
  static constexpr std::chrono::seconds kAverage{1};

  RateWatch(Read read, Time now);

  /// Begins anew.
  void restart(Time now);
  /// To be called when rules may have come.
  void rules_came(Time now) {
    if (!came_) came_ = now;
  }
  /// To be called between batches: reads the counters when that is due.
  void look(Time now);
  /// How long until `look` has something to do.
  std::chrono::nanoseconds due_in(Time now) const { return std::max(due_, now) - now; }
  /// Rates since the latest reading of the counters that is at least `kAverage` old. A rule that is
  /// not in it is counted from the next reading; if it is not in that either, from when the first
  /// rule came after that. `counters`: those of the rule as they are now.
  RuleRates rates(const RuleCounters& counters, Time now) const;

 private:
  struct Sample {
    Time time;
    Counters counters;  ///< by serial, ascending

    const RuleCounters* find(std::uint64_t serial) const;
  };
  Sample sample(Time now);

  Read read_;
  std::array<Sample, 2> samples_;  // the older one first
  Time due_;
  std::optional<Time> came_;  // when the first rules came after the last reading
};

}  // namespace gorgo::server
