#pragma once

#include <cstdint>

namespace gorgo::history {

/// Positions [first, last).
struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  bool empty() const { return first >= last; }
  std::uint64_t size() const { return empty() ? 0 : last - first; }
};

}  // namespace gorgo::history
