#pragma once

#include <algorithm>
#include <cstdint>

namespace gorgo::history {

/// Positions [first, last).
struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  bool empty() const { return first >= last; }
  std::uint64_t size() const { return empty() ? 0 : last - first; }
  /// The position, or the end of the range that is next to it.
  std::uint64_t clamp(std::uint64_t position) const {
    return std::clamp(position, first, std::max(first, last));
  }
};

}  // namespace gorgo::history
