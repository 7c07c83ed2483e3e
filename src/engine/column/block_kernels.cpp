#include "engine/column/block_kernels.hpp"

#include <vector>

#include "engine/column/kernels/sets.hpp"

namespace gorgo::engine {

std::span<const BlockKernels* const> block_kernels() {
  static const std::vector<const BlockKernels*> runnable = [] {
    std::vector<const BlockKernels*> list;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) list.push_back(&kernels::kAvx512);
    if (__builtin_cpu_supports("avx2")) list.push_back(&kernels::kAvx2);
#endif
    list.push_back(&kernels::kPlain);
    return list;
  }();
  return runnable;
}

}  // namespace gorgo::engine
