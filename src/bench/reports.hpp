#pragma once

#include <vector>

#include "bench/workload.hpp"

namespace gorgo::bench {

/// Reports at each second, over the whole window or one for each key.
void add_report_sweeps(std::vector<Sweep>& sweeps);

}  // namespace gorgo::bench
