#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "gorgo/processor.hpp"
#include "server/log.hpp"
#include "server/log_limit.hpp"

namespace gorgo::server {

/// Tells the log what is given up: composites, because an event brings about too many or too deep
/// ones; terminators, because their rule is suspended; events, because too many of them wait for a
/// durable subscription. Used by one thread.
class DropWatch {
 public:
  using Time = LogLimit::Time;

  explicit DropWatch(Log& log) : log_(log) {}

  /// What was given up before is known.
  void begin(const ProcessorCounters& counters, std::uint64_t dropped_by_durables) {
    composites_.begin(counters.dropped_composites + counters.dropped_depth);
    terminators_.begin(counters.passed_over);
    durables_.begin(dropped_by_durables);
  }
  /// Costs next to nothing while nothing is given up.
  void look(const Processor& processor, Time now) {
    const ProcessorCounters& counters = processor.counters();
    look_at_composites(counters, processor.last_dropped(), now);
    look_at_terminators(counters, processor.last_passed_over(), now);
  }
  void look_at_composites(const ProcessorCounters& counters, const DroppedComposite& last,
                          Time now);
  void look_at_terminators(const ProcessorCounters& counters, const std::string& last_rule,
                           Time now);
  /// `dropped`: events so far. `last`: the subscription that has lost some last.
  void look_at_durables(std::uint64_t dropped, const std::string& last, Time now);

 private:
  /// The growth of a sum, for the log.
  class Growth {
   public:
    void begin(std::uint64_t sum) { sum_ = sum; }
    /// With a value, a line is due, and the value is how much the sum has grown since the last one.
    std::optional<std::uint64_t> note(std::uint64_t sum, Time now) {
      return limit_.note(sum - std::exchange(sum_, sum), now);
    }

   private:
    LogLimit limit_;
    std::uint64_t sum_ = 0;
  };

  Log& log_;
  Growth composites_, terminators_, durables_;
};

}  // namespace gorgo::server
