#pragma once

#include <string>
#include <vector>

#include "gorgo/diagnostics.hpp"

namespace gorgo::bench {

struct Figure {
  std::string name;  ///< a file name without extension, "base-window-last"
  std::string svg;
};

/// One figure for each sweep of a report in JSON: time per event over x, a line for each engine. A
/// sweep without measurements has no figure.
Result<std::vector<Figure>> plot(const std::string& report);

}  // namespace gorgo::bench
