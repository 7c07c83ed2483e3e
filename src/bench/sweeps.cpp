#include "bench/base.hpp"
#include "bench/workload.hpp"

namespace gorgo::bench {

const std::vector<Sweep>& sweeps() {
  static const std::vector<Sweep> all = [] {
    std::vector<Sweep> list;
    add_base_sweeps(list);
    return list;
  }();
  return all;
}

}  // namespace gorgo::bench
