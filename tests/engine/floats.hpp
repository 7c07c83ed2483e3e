#pragma once

#include <limits>

namespace gorgo::engine {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace gorgo::engine
