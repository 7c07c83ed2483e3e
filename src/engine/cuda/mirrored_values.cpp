#include "engine/cuda/mirrored_values.hpp"

namespace gorgo::engine {

std::span<const std::uint64_t> MirroredValues::words(std::uint64_t first, std::uint64_t last,
                                                     std::vector<std::uint64_t>& /*scratch*/) {
  return {mirror().timeline.attribute(field().attribute).words(first), last - first};
}

std::span<const std::uint64_t> MirroredTimestamps::words(std::uint64_t first, std::uint64_t last,
                                                         std::vector<std::uint64_t>& scratch) {
  scratch.clear();
  for (std::uint64_t p = first; p < last; ++p) {
    scratch.push_back(static_cast<std::uint64_t>(mirror().timeline.timestamp(p)));
  }
  return scratch;
}

std::span<const std::uint64_t> MirroredRoots::words(std::uint64_t first, std::uint64_t last,
                                                    std::vector<std::uint64_t>& scratch) {
  scratch.clear();
  for (std::uint64_t p = first; p < last; ++p) {
    scratch.push_back(mirror().store.root(mirror().timeline.slot(p)));
  }
  return scratch;
}

}  // namespace gorgo::engine
