#pragma once

#include <span>

namespace gorgo::gpu {

struct RuntimeHeader {
  const char* name;  ///< as it is included
  const char* text;
};

/// The headers that kernels for a shape are compiled from at run time, as they were when this was
/// built.
std::span<const RuntimeHeader> runtime_headers();

}  // namespace gorgo::gpu
