#pragma once

#include <vector>

#include "bench/workload.hpp"

namespace gorgo::bench {

/// Sweeps whose rules are of another shape than the base scenario's: very many that differ in one
/// constant, and one with very many states.
void add_rule_shape_sweeps(std::vector<Sweep>& sweeps);

}  // namespace gorgo::bench
