#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gorgo::plan {

/// The strongly connected components of a graph, each ascending, every one behind those that feed
/// it. `inputs`: by node, the nodes that feed it.
std::vector<std::vector<std::uint32_t>> components_of(
    std::span<const std::vector<std::uint32_t>> inputs);

}  // namespace gorgo::plan
