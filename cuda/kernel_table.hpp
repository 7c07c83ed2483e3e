#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gorgo::gpu {

/// The kernels of a shape, each of which is compiled by itself.
enum class KernelKind : std::uint8_t {
  select_one_newest,
  select_one_oldest,
  select_several_newest,
  select_several_oldest,
  select_all,
  reduce,
  sum
};
inline constexpr std::size_t kKernelKinds = 7;

/// The name of the kernel, for people.
constexpr const char* name_of(KernelKind kind) {
  constexpr const char* kNames[kKernelKinds] = {"select_one newest",
                                                "select_one oldest",
                                                "select_several newest",
                                                "select_several oldest",
                                                "select_all",
                                                "reduce",
                                                "sum"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// How a launch gets its round: a separate one finds it in the device's memory, a fused one has it
/// as an argument and uploads it itself.
enum class LaunchMode : std::uint8_t { separate, fused };

/// Kernels by their kind and launch mode, as cudaLaunchKernel takes them; null for those that are
/// not there.
using KernelTable = std::array<const void*, 2 * kKernelKinds>;

inline std::size_t index_of(KernelKind kind, LaunchMode mode) {
  return 2 * static_cast<std::size_t>(kind) + static_cast<std::size_t>(mode);
}

/// The kernels of the shapes that every device has, by the numbers of cuda/shape.hpp.
std::vector<KernelTable> built_in_kernels();

}  // namespace gorgo::gpu
