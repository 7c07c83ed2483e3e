#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "base/log_histogram.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::server {

/// How long accepted events take from the moment in which their publication was read until their
/// composites stand in the queues of the subscribers. Events that lateness holds back wait until
/// they are released. It costs a publication some nanoseconds, and an event nothing. Belongs to the
/// engine thread.
class LatencyWatch {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  /// A publication was taken in. `last`: its largest timestamp.
  void add(Moment received, std::uint64_t events, Timestamp last) {
    if (events > 0) fresh_.push_back({received, events, last});
  }

  /// Counts those whose events are evaluated and delivered. Precondition: nothing is pending.
  void settle(const Processor& processor) {
    if (fresh_.empty() && held_.empty()) return;
    const Moment now = std::chrono::steady_clock::now();
    const auto clock = processor.clock();
    const bool all = processor.held() == 0;
    for (const Waiting& waiting : fresh_) {
      if (all || (clock && waiting.last <= *clock)) {
        count(waiting, now);
      } else {
        held_.emplace(waiting.last, waiting);
      }
    }
    fresh_.clear();
    while (!held_.empty() && (all || (clock && held_.begin()->first <= *clock))) {
      count(held_.begin()->second, now);
      held_.erase(held_.begin());
    }
  }

  /// Nanoseconds, one for each event.
  const LogHistogram& histogram() const { return histogram_; }

 private:
  struct Waiting {
    Moment received;
    std::uint64_t events;
    Timestamp last;
  };

  std::vector<Waiting> fresh_;              // since `settle`
  std::multimap<Timestamp, Waiting> held_;  // by their largest timestamp
  LogHistogram histogram_;

  void count(const Waiting& waiting, Moment now) {
    const auto took =
        std::max<std::int64_t>(0, std::chrono::nanoseconds(now - waiting.received).count());
    histogram_.add(static_cast<std::uint64_t>(took), waiting.events);
  }
};

}  // namespace gorgo::server
