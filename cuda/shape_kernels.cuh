#pragma once

#include <array>
#include <cstddef>

#include "cuda/kernels.cuh"

namespace gorgo::cuda {

/// What is compiled for a shape, each by itself.
enum class KernelKind : std::uint8_t {
  pick_newest,
  pick_oldest,
  select_newest,
  select_oldest,
  list,
  reduce,
  sum
};
inline constexpr std::size_t kKernelKinds = 7;

/// By kind, as cudaLaunchKernel takes them; null for those that are not there.
using ShapeKernels = std::array<const void*, kKernelKinds>;

template <class Shape>
ShapeKernels kernels_of() {
  const auto address = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
  ShapeKernels kernels = {address(pick<Shape, true>),    address(pick<Shape, false>),
                          address(select<Shape, true>),  address(select<Shape, false>),
                          address(list<Shape>)};
  if constexpr (!Shape::Negations::kAny) {
    kernels[static_cast<std::size_t>(KernelKind::reduce)] = address(reduce<Shape>);
    kernels[static_cast<std::size_t>(KernelKind::sum)] = address(sum<Shape>);
  }
  return kernels;
}

}  // namespace gorgo::cuda
