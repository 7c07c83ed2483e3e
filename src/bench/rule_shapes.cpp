#include "bench/rule_shapes.hpp"

#include "bench/random.hpp"

namespace gorgo::bench {
namespace {

constexpr std::uint64_t kShapesSeed = 3;

/// Every event is of interest to exactly one of the rules.
Workload constraints(int rules, std::int64_t window) {
  Workload workload;
  workload.rules = "event E(k: int, v: int);\n";
  const std::string tail = ") as B within " + std::to_string(window) + " from E where k = ";
  for (int i = 0; i < rules; ++i) {
    const std::string k = std::to_string(i);
    workload.rules += "rule r" + k + ":\ndefine Pair(k: int, v: int) from E(k = " + k +
                      ") and last E(k = " + k + tail + k + ", v = B.v;\n";
  }
  workload.types = {"E"};
  workload.fill = static_cast<std::uint64_t>(window);
  workload.make_source = [rules] {
    return [=, random = Random(kShapesSeed), now = Timestamp{0}](GeneratedEvents& batch) mutable {
      const std::int64_t k = random.between(0, rules - 1);
      batch.add(0, now += kTick, {Datum::of(k), Datum::of(random.between(1, 1000))});
    };
  };
  return workload;
}

constexpr int kDeepAttributes = 10;

std::string deep_rule(int states, const std::string& window) {
  std::string declared, from = "S0(f0 => $v)";
  for (int i = 0; i < states; ++i) {
    const std::string state = "S" + std::to_string(i);
    declared += "event " + state + "(f0: float";
    for (int f = 1; f < kDeepAttributes; ++f) declared += ", f" + std::to_string(f) + ": float";
    declared += ");\n";
    if (i == 0) continue;
    from +=
        "\n  and last " + state + "(f1 > 0.25 and f2 < $v)" + window + "S" + std::to_string(i - 1);
  }
  const std::string last = "S" + std::to_string(states - 1);
  return declared + "define Deep(first: float, average: float, top: float)\nfrom " + from +
         "\n  and $average = Avg(S1(f1 > 0.25 and f2 < $v).f3" + window + "S0)\n  and $top = Max(" +
         last + "(f1 > 0.25).f4" + window + "S0)\nwhere first = " + last +
         ".f0, average = $average, top = $top;\n";
}

/// Each state has 100 candidates, of which the terminator decides how many pass.
Workload deep_states(int states) {
  const std::int64_t window = std::int64_t{100} * states;
  Workload workload;
  workload.rules = deep_rule(states, " within " + std::to_string(window) + " from ");
  for (int i = 0; i < states; ++i) workload.types.push_back("S" + std::to_string(i));
  workload.passive = {0};
  workload.fill = static_cast<std::uint64_t>(window * (states - 1));
  workload.make_source = [types = static_cast<std::uint64_t>(states)] {
    return [=, random = Random(kShapesSeed), now = Timestamp{0}](GeneratedEvents& batch) mutable {
      batch.add(static_cast<std::uint32_t>(random.below(types)), now += kTick);
      for (int f = 0; f < kDeepAttributes; ++f) batch.cell(Datum::of(random.unit()));
    };
  };
  return workload;
}

}  // namespace

void add_rule_shape_sweeps(std::vector<Sweep>& sweeps) {
  sweeps.push_back({.id = "base/constraints",
                    .axis = "rules that differ in a constant, one for each event",
                    .quick = {200},
                    .full = {100, 1e3, 10e3, 100e3},
                    .at = [](double x, bool small) {
                      return constraints(static_cast<int>(x), small ? 1000 : 10'000);
                    }});
  sweeps.push_back({.id = "base/deep-states",
                    .axis = "states of a rule with float conditions",
                    .log_x = false,
                    .quick = {5, 10},
                    .full = {10, 20, 40, 60, 80, 100},
                    .at = [](double x, bool) { return deep_states(static_cast<int>(x)); }});
}

}  // namespace gorgo::bench
