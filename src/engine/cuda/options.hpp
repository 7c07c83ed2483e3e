#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/device.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::engine {

/// How the CUDA engine uses GPUs.
struct CudaOptions {
  std::vector<std::uint32_t> devices;             ///< by index; none: all
  std::uint64_t memory = std::uint64_t{1} << 30;  ///< bytes of each for mirrored columns
  std::uint32_t page_events = 8192;               ///< a power of two
  /// Batches with fewer pairs of terminator and candidate are left to the CPU. docs/gpu/ says where
  /// the number comes from.
  std::uint64_t least_pairs = 160'000;
  /// A batch goes to several threads of the host if each has at least so many terminators.
  std::uint64_t least_terminators = 256;
  gpu::Compile compile = gpu::Compile::in_background;  ///< "background", "at-once" or "never"
  /// A state is chosen with its negations, instead of before them, unless more events than this
  /// could lie in the interval of one. "separate" is 0 and "inside" no limit; "auto" is the
  /// default, which takes a warp about as long as the round that it saves.
  std::uint64_t longest_inside = 4096;
  /// Small rounds are arguments of the kernels that search: "fused"; else "separate".
  bool fused_uploads = true;
};

/// Sets an option by its name: ("memory", "512MiB"), ("devices", "all"), ("devices", "0+2").
Result<void> set_cuda_option(CudaOptions& options, std::string_view key, std::string_view text);
/// The option as text that `set_cuda_option` takes. Precondition: it is one of those above.
std::string cuda_option_text(const CudaOptions& options, std::string_view key);
/// Reads options such as "memory=512MiB,page_events=8192,least_pairs=0". What is left out has its
/// default.
Result<CudaOptions> parse_cuda_options(std::string_view text);

/// The options of this process: those that were set, else those of the environment variable
/// GORGO_CUDA. Any thread may call.
Result<CudaOptions> cuda_options();
/// Call before engines are first asked for.
void set_cuda_options(const CudaOptions& options);

}  // namespace gorgo::engine
