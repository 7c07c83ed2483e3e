#pragma once

#include <cstdint>
#include <string_view>

#include "cuda/device.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::engine {

/// How the CUDA engine uses a GPU.
struct CudaOptions {
  std::uint64_t memory = std::uint64_t{1} << 30;  ///< bytes for mirrored columns
  std::uint32_t page_events = 8192;               ///< a power of two
  /// Batches with fewer pairs of terminator and candidate are left to the CPU. docs/gpu/ says what
  /// it rests upon.
  std::uint64_t least_pairs = 160'000;
  cuda::Compile compile = cuda::Compile::in_background;  ///< "background", "at-once" or "never"
};

/// "memory=512MiB,page_events=8192,least_pairs=0"; what is left out stays as it is.
Result<CudaOptions> parse_cuda_options(std::string_view text);
/// Those of the environment variable GORGO_CUDA.
Result<CudaOptions> cuda_options();

}  // namespace gorgo::engine
