#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/device_plan.hpp"
#include "engine/engine.hpp"
#include "engine/window.hpp"

namespace gorgo::engine {

/// What a pass finds the sequences of: terminators of a rule whose plan is on a device.
struct PassInput {
  DevicePlan& plan;
  Terminators terminators;
  const RuleState& rule_state;

  const Rule& rule() const { return plan.plan->rule; }
  /// Where a scan's timeline has the events of an interval that the rule sees.
  history::Range window(DeviceScan& scan, Interval interval) const {
    interval = visible(interval, rule_state);
    return scan.near = scan.timeline->window(interval.after, interval.before, scan.near);
  }
  /// The event at a position of a state's timeline; for state 0, the terminator of that number.
  history::EventRef event(std::size_t state, std::uint64_t position) const {
    if (state == 0) return {plan.terminators, terminators.slots[position]};
    return plan.states[state - 1].event(position);
  }
};

}  // namespace gorgo::engine
