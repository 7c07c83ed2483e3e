#include "bench/applications.hpp"
#include "bench/base.hpp"
#include "bench/heavy.hpp"
#include "bench/reports.hpp"
#include "bench/rule_shapes.hpp"
#include "bench/shift.hpp"
#include "bench/workload.hpp"

namespace gorgo::bench {

const std::vector<Sweep>& sweeps() {
  static const std::vector<Sweep> all = [] {
    std::vector<Sweep> list;
    add_base_sweeps(list);
    add_rule_shape_sweeps(list);
    add_report_sweeps(list);
    add_heavy_sweeps(list);
    add_shift_sweeps(list);
    add_application_sweeps(list);
    return list;
  }();
  return all;
}

}  // namespace gorgo::bench
