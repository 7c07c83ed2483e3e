#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cuda/device_context.hpp"
#include "engine/cuda/device_scan.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {

/// A plan on a device.
struct DevicePlan {
  std::shared_ptr<const plan::Plan> plan;
  const history::EventStore* terminators = nullptr;
  std::vector<DeviceScan> states;  ///< of state 1 on
  std::vector<DeviceScan> negations;
  std::vector<DeviceScan> aggregates;
  /// A choice is made with negations unless more events could lie in one's interval; 0: never.
  std::uint64_t longest_inside = 0;
};

/// Calls f(scan) for all scans, also for negations that are tested with choices.
template <class Plan, class F>
void for_each_scan(Plan& plan, F f) {
  for (auto* const scans : {&plan.states, &plan.negations, &plan.aggregates}) {
    for (auto& scan : *scans) {
      f(scan);
      for (auto& negation : scan.negations) f(negation);
    }
  }
}

/// Whether events that are chosen for the state are consumed.
bool consumes(const Rule& rule, std::uint32_t state);

/// The part of a plan that is the same on every device: mirrors and shapes are missing. With 0 as
/// `longest_inside` no choice is made with negations. Precondition: the plan holds nothing that a
/// device cannot do.
DevicePlan prepare_plan(std::shared_ptr<const plan::Plan> plan, history::History& history,
                        std::uint64_t longest_inside);

/// Puts a prepared plan on a device, where it shares the mirrors of its columns with other plans.
/// Whoever calls holds the context's mutex.
DevicePlan put_on(const DevicePlan& prepared, DeviceContext& context);

}  // namespace gorgo::engine
