#pragma once

#include <chrono>
#include <cstdint>

#include "gorgo/processor.hpp"
#include "server/log.hpp"

namespace gorgo::server {

/// Tells the log about composites that the processor drops because an event brings about too many
/// or too deep ones: a line at most every kPause. Used by one thread.
class DropWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kPause{10};

  explicit DropWatch(Log& log) : log_(log) {}

  /// Costs next to nothing while nothing is dropped.
  void look(const Processor& processor, Time now) {
    look(processor.counters(), processor.last_dropped(), now);
  }
  void look(const ProcessorCounters& counters, const DroppedComposite& last, Time now);

 private:
  Log& log_;
  std::uint64_t told_too_many_ = 0, told_too_deep_ = 0;
  Time silent_until_ = Time::min();
};

}  // namespace gorgo::server
