#pragma once

#include <chrono>

#include "gorgo/value.hpp"

namespace gorgo::tools {

inline Timestamp wall_now() {
  return std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace gorgo::tools
