#pragma once

#include <span>
#include <vector>

#include "plan/plan.hpp"

namespace gorgo::plan {

/// Ways of events round rules that feed each other: types in the order in which one is made from
/// the one before, the last from the first. Every way is a shortest one, and no two share their
/// first type; not every cycle of a large knot of rules is listed.
std::vector<std::vector<TypeId>> cycles(std::span<const Plan* const> plans);

}  // namespace gorgo::plan
