#pragma once

#include <span>
#include <string>
#include <vector>

namespace gorgo::gpu {

/// NVRTC, NVIDIA's compiler as a library, where this machine has it: it is looked for when it is
/// first asked for, so that the binary works without it. Any thread.
namespace nvrtc {

/// The version, such as "13.0"; empty when there is none.
std::string version();
/// What was looked for, where there is none.
std::string unavailable();

struct Compiled {
  std::string cubin;               ///< empty after an error
  std::vector<std::string> names;  ///< the kernels', by expression
  std::string problem;             ///< what the compiler says
};

/// Compiles `text`, which may include `runtime_headers()`, for a compute capability (90 is 9.0).
/// `kernels`: expressions such as "f<int>".
Compiled compile(const std::string& text, std::span<const std::string> kernels, int capability);

}  // namespace nvrtc
}  // namespace gorgo::gpu
