#pragma once

#include <string>
#include <vector>

#include "bench/workload.hpp"

namespace gorgo::bench {

/// Rules that compare each terminator with very many candidates. What they compare with is chosen
/// so that a terminator has about one match, eight for inequality.
void add_heavy_sweeps(std::vector<Sweep>& sweeps);

/// A literal of rule texts that reads back as exactly this number.
std::string literal(double value);

/// The t for which the scalar product of two vectors of three numbers, all uniform in [0, 1), is
/// below t with this probability, which is at most 0.1.
double halfspace_limit(double probability);

}  // namespace gorgo::bench
