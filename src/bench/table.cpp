#include <algorithm>

#include "base/time_text.hpp"
#include "bench/print.hpp"
#include "bench/report.hpp"

namespace gorgo::bench {
namespace {

unsigned long long number(std::uint64_t n) { return n; }

std::string x_of(double x) { return print("%.12g", x); }

double median_ns(const EngineResult& result) {
  return spread_of(result.runs, &Run::ns_per_event).median;
}

/// The engine that the others of its cell are compared with: the one written by hand, or the first
/// that was measured.
const EngineResult* yardstick(const CellResult& cell) {
  const EngineResult* best = nullptr;
  for (const EngineResult& result : cell.engines) {
    if (result.runs.empty()) continue;
    if (best == nullptr || result.engine == kHandwritten) best = &result;
  }
  return best;
}

std::string latency_text(const EngineResult& result) {
  const auto latency = latency_of(result.runs);
  if (!latency) return "";
  return print(" %10s %10s", time_text(latency->p50).c_str(), time_text(latency->p99).c_str());
}

std::string row_of(const CellResult& cell, const EngineResult& result) {
  std::string row = print("%10s  %-12s", x_of(cell.x).c_str(), result.engine.c_str());
  if (result.runs.empty()) {
    return row + "  " + (result.skipped.empty() ? "interrupted" : "skipped: " + result.skipped) +
           "\n";
  }
  const Spread spread = spread_of(result.runs, &Run::ns_per_event);
  const Run& run = result.runs.front();
  const std::uint64_t composites = run.after.back().composites;
  const double per_composite = composites == 0 ? 0
                                               : spread.median * static_cast<double>(run.events) /
                                                     static_cast<double>(composites);
  row += print(" %10s  %8s .. %-8s %10.0f", time_text(spread.median).c_str(),
               time_text(spread.min).c_str(), time_text(spread.max).c_str(),
               spread.median > 0 ? 1e9 / spread.median : 0.0);
  row += print(" %10s", time_text(spread_of(result.runs, &Run::cpu_ns_per_event).median).c_str());
  row += print(" %8llu %10llu %10s", number(run.events), number(composites),
               composites == 0 ? "-" : time_text(per_composite).c_str());
  row += print(" %8.1f %7.0f", static_cast<double>(run.memory.bytes) / 1e6,
               run.memory.bytes_per_event());
  const EngineResult* other = yardstick(cell);
  return row + print(" %8.2f", spread.median / median_ns(*other)) + latency_text(result) + "\n";
}

/// A line for what other engines evaluated in all repetitions.
std::string declined_lines(const EngineResult& result) {
  const Declines declines = declines_of(result.runs);
  std::string lines;
  for (const Declined& declined : declines.all) {
    lines +=
        print("            DECLINED %llu of %llu terminators, evaluated by %s: ",
              number(declined.terminators), number(declines.terminators), declined.by.c_str()) +
        declined.because + "\n";
  }
  return lines;
}

bool has_latency(const CellResult& cell) {
  return std::ranges::any_of(
      cell.engines, [](const auto& result) { return latency_of(result.runs).has_value(); });
}

}  // namespace

std::string table_of(const std::vector<CellResult>& cells) {
  if (cells.empty()) return "";
  const Sweep& sweep = *cells.front().sweep;
  std::string table = sweep.id + ", x: " + sweep.axis + "\n";
  table += print("%10s  %-12s %10s  %20s %10s %10s %8s %10s %10s %8s %7s %8s", "x", "engine",
                 "per event", "min .. max     ", "events/s", "CPU", "measured", "composites",
                 "per comp.", "MB", "B/event", "ratio");
  if (std::ranges::any_of(cells, has_latency)) table += print(" %10s %10s", "batch p50", "p99");
  table += "\n";
  for (const CellResult& cell : cells) {
    for (const EngineResult& result : cell.engines) {
      table += row_of(cell, result) + declined_lines(result);
    }
    if (!cell.mismatch.empty()) table += "            MISMATCH " + cell.mismatch + "\n";
  }
  return table;
}

}  // namespace gorgo::bench
