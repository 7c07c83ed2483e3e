#include "engine/cuda/mirrored_positions.hpp"

#include <cstddef>

namespace gorgo::engine {

/// An inserted event moves all that stand behind it, and no event stands at two positions. So all
/// positions agree up to the change, and none do from there on.
std::uint64_t MirroredPositions::first_difference(const history::Timeline& timeline) const {
  const auto agrees = [&](std::uint64_t position) {
    return position < timeline.end() && slots_[position - first_] == timeline.slot(position);
  };
  if (empty() || agrees(end() - 1)) return end();
  std::uint64_t low = first_, high = end() - 1;  // the change is in [low, high]
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (agrees(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void MirroredPositions::drop_before(std::uint64_t position) {
  slots_.erase(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(position - first_));
  first_ = position;
}

void MirroredPositions::append_from(const history::Timeline& timeline) {
  for (std::uint64_t p = end(); p < timeline.end(); ++p) slots_.push_back(timeline.slot(p));
}

}  // namespace gorgo::engine
