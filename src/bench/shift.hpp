#pragma once

#include <vector>

#include "bench/workload.hpp"

namespace gorgo::bench {

/// A load that shifts, in the spirit of SABER's demonstration (Koliousis et al., "Demo: The SABER
/// System for Window-Based Hybrid Stream Processing with GPGPUs", DEBS 2016, figure 3): the part of
/// the window that a condition selects goes from 1 % to 50 %, from one event to the next.
void add_shift_sweeps(std::vector<Sweep>& sweeps);

}  // namespace gorgo::bench
