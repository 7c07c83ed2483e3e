#pragma once

#include <vector>

#include "bench/workload.hpp"

namespace gorgo::bench {

/// The rules of rules/ over generated streams, by the number of those that report: tanks, cards,
/// houses. Each of them reports at its own pace, so that more of them mean more events in a window.
void add_application_sweeps(std::vector<Sweep>& sweeps);

}  // namespace gorgo::bench
