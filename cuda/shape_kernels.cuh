#pragma once

#include <array>
#include <cstddef>

#include "cuda/kernels.cuh"

namespace gorgo::gpu {

/// The kernels of a shape, each of which is compiled by itself.
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

/// How a launch has its round: from the device's memory, or along with it.
enum class Sent : std::uint8_t { apart, along };

/// Kernels by their kind and by how the round is sent, as cudaLaunchKernel takes them; null for
/// those that are not there.
using ShapeKernels = std::array<const void*, 2 * kKernelKinds>;

inline std::size_t index_of(KernelKind kind, Sent sent) {
  return 2 * static_cast<std::size_t>(kind) + static_cast<std::size_t>(sent);
}

template <class Shape>
ShapeKernels kernels_of() {
  ShapeKernels kernels = {};
  const auto put = [&](KernelKind kind, Sent sent, auto* kernel) {
    kernels[index_of(kind, sent)] = reinterpret_cast<const void*>(kernel);
  };
  const auto add = [&]<class Body>(KernelKind kind, Body) {
    put(kind, Sent::apart, &apart<Body>);
    put(kind, Sent::along, &along<Body>);
  };
  add(KernelKind::pick_newest, Pick<Shape, true>());
  add(KernelKind::pick_oldest, Pick<Shape, false>());
  add(KernelKind::select_newest, Select<Shape, true>());
  add(KernelKind::select_oldest, Select<Shape, false>());
  add(KernelKind::list, List<Shape>());
  if constexpr (!Shape::Negations::kAny) {
    add(KernelKind::reduce, Reduce<Shape>());
    put(KernelKind::sum, Sent::apart, &apart_by_three<Sum<Shape>>);
    put(KernelKind::sum, Sent::along, &along<Sum<Shape>>);
  }
  return kernels;
}

}  // namespace gorgo::gpu
