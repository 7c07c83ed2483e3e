#pragma once

#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "bench/timeline.hpp"

namespace gorgo::bench {

/// Where and by what a report was made.
struct Machine {
  std::string cpu;
  unsigned cores = 0;
  std::string compiler;
  std::string commit;  ///< of the source; a "+" behind it: changed since; empty: unknown
};
Machine this_machine();

/// All that a call of `gorgo bench` measured.
struct Report {
  Machine machine;
  std::string started;  ///< ISO 8601, UTC
  std::string grid;
  Limits limits;
  std::vector<CellResult> cells;
  std::vector<TimelineCell> timelines;  ///< where those were asked for, instead of cells
  bool complete = false;                ///< false: interrupted, or a cell failed
};

/// The cells of one sweep as a table, in the order given; ends with a newline.
std::string table_of(const std::vector<CellResult>& cells);

/// The report as one JSON object, see bench/README.md; ends with a newline.
std::string to_json(const Report& report);

}  // namespace gorgo::bench
