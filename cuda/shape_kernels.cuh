#pragma once

#include "cuda/kernels.cuh"

namespace gorgo::cuda {

/// The kernels of a shape, as cudaLaunchKernel takes them.
struct ShapeKernels {
  const void* pick_newest = nullptr;
  const void* pick_oldest = nullptr;
  const void* select_newest = nullptr;
  const void* select_oldest = nullptr;
  const void* list = nullptr;
  const void* reduce = nullptr;
};

template <class Shape>
ShapeKernels kernels_of() {
  const auto address = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
  return {.pick_newest = address(pick<Shape, true>),
          .pick_oldest = address(pick<Shape, false>),
          .select_newest = address(select<Shape, true>),
          .select_oldest = address(select<Shape, false>),
          .list = address(list<Shape>),
          .reduce = address(reduce<Shape>)};
}

}  // namespace gorgo::cuda
