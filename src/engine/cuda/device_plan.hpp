#pragma once

#include <memory>

#include "engine/cuda/work.hpp"

namespace gorgo::engine {

/// Whether events that are chosen for the state are consumed.
bool consumes(const Rule& rule, std::uint32_t state);

/// The part of a plan that is the same on every device: mirrors and shapes are missing. With 0 as
/// `longest_inside` no choice is made with negations. Precondition: the plan holds nothing that a
/// device cannot do.
DevicePlan prepare_plan(std::shared_ptr<const plan::Plan> plan, history::History& history,
                        std::uint64_t longest_inside);

/// Puts a prepared plan on a device, where it shares the mirrors of its columns with other plans.
/// Whoever calls holds the session's mutex.
DevicePlan put_on(const DevicePlan& prepared, Session& session);

}  // namespace gorgo::engine
