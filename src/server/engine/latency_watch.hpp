#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/log_histogram.hpp"
#include "server/engine/until_evaluated.hpp"

namespace gorgo::server {

/// How long accepted events take from the moment in which their publication was read until their
/// composites stand in the queues of the subscribers. It works per publication, not per event.
/// Belongs to the engine thread.
class LatencyWatch {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  /// The next piece of a publication is taken in. Its events may be evaluated before the rest
  /// comes.
  void begin(Moment received) { in_hand_ = received; }

  /// A publication was taken in. `last`: its largest timestamp.
  void add(Moment received, std::uint64_t events, Timestamp last) {
    if (events > 0) waiting_.add(last, {received, events});
  }

  /// Counts those whose events are evaluated and delivered. Precondition: nothing is pending.
  void settle(const Processor& processor) {
    const Moment now = std::chrono::steady_clock::now();
    waiting_.settle(processor, [&](const Waiting& done) { count(done, now); });
    in_hand_.reset();
  }

  /// When the publication was read that brings about composites of this time; unset: none does, as
  /// where a timer is due. `from`: as in `UntilEvaluated::waiting_for`.
  std::optional<Moment> received(Timestamp time, std::size_t& from) const {
    const Waiting* waiting = waiting_.waiting_for(time, from);
    return waiting == nullptr ? in_hand_ : waiting->received;
  }

  /// Nanoseconds, one for each event.
  const LogHistogram& histogram() const { return histogram_; }

 private:
  struct Waiting {
    Moment received;
    std::uint64_t events;
  };

  UntilEvaluated<Waiting> waiting_;
  std::optional<Moment> in_hand_;  // when the publication was read whose piece is evaluated next
  LogHistogram histogram_;

  void count(const Waiting& waiting, Moment now) {
    const auto took =
        std::max<std::int64_t>(0, std::chrono::nanoseconds(now - waiting.received).count());
    histogram_.add(static_cast<std::uint64_t>(took), waiting.events);
  }
};

}  // namespace gorgo::server
