#pragma once

#include <chrono>

namespace gorgo {

/// Nanoseconds since `start`.
inline double nanoseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace gorgo
