#include "bench/shift.hpp"

#include <cmath>
#include <limits>

#include "bench/heavy.hpp"
#include "bench/random.hpp"

namespace gorgo::bench {
namespace {

constexpr std::uint64_t kShiftSeed = 5;
constexpr double kBand = 0.01;

/// One T (type 0) for two S (type 1), each with a place `a` and a vector. Half of the S stand close
/// together at `kCrowd`, the others anywhere in [0, 1); T stand in [0, 1), behind the shift in the
/// crowd. So the window is the same on both sides, and the shift is sharp.
EventSource crowd_source(std::uint64_t shift) {
  constexpr double kCrowd = 2, kCrowdWidth = kBand / 2;
  return [=, random = Random(kShiftSeed), now = Timestamp{0}](GeneratedEvents& batch) mutable {
    const bool is_t = random.below(3) == 0;
    const bool half = random.below(2) == 0;
    const bool crowded = is_t ? static_cast<std::uint64_t>(now / kTick) >= shift : half;
    const double place = random.unit();
    batch.add(is_t ? 0 : 1, now += kTick);
    batch.cell(Datum::of(crowded ? kCrowd + kCrowdWidth * place : place));
    for (int i = 0; i < 3; ++i) batch.cell(Datum::of(random.unit()));
  };
}

/// Where the band lies in the crowd, a second condition, which no index serves, leaves about one of
/// its events.
Workload selectivity(double candidates) {
  const auto window = std::llround(candidates * 1.5);
  const std::string width = literal(kBand);
  Workload workload;
  workload.rules =
      "event T(a: float, x: float, y: float, z: float);\n"
      "event S(a: float, x: float, y: float, z: float);\n"
      "define Match(t: float, s: float)\n"
      "from T(a = $a, x = $x, y = $y, z = $z)\n"
      "  and each S(a > $a - " +
      width + " and a < $a + " + width + " and x * $x + y * $y + z * $z < " +
      literal(halfspace_limit(2 / candidates)) + ") within " + std::to_string(window) +
      " from T\nwhere t = T.a, s = S.a;\n";
  workload.types = {"T", "S"};
  workload.passive = {0};
  workload.fill = static_cast<std::uint64_t>(window);
  workload.make_shifting = crowd_source;
  workload.make_source = [] { return crowd_source(std::numeric_limits<std::uint64_t>::max()); };
  return workload;
}

}  // namespace

void add_shift_sweeps(std::vector<Sweep>& sweeps) {
  sweeps.push_back({.id = "shift/selectivity",
                    .axis = "candidates in the window, 1 % selected, then 50 %",
                    .quick = {500},
                    .full = {10e3, 100e3},
                    .gpu = {10e3, 100e3, 250e3},
                    .at = [](double x, bool) { return selectivity(x); }});
}

}  // namespace gorgo::bench
