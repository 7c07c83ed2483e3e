#include "cuda/kernel_table.hpp"
#include "cuda/kernels.cuh"

namespace gorgo::gpu {
namespace {

void put(KernelTable& kernels, KernelKind kind, LaunchMode mode, auto* kernel) {
  kernels[index_of(kind, mode)] = reinterpret_cast<const void*>(kernel);
}

template <class Body>
void add(KernelTable& kernels, KernelKind kind) {
  put(kernels, kind, LaunchMode::separate, &separate<Body>);
  put(kernels, kind, LaunchMode::fused, &fused<Body>);
}

template <class Shape>
KernelTable kernels_of() {
  KernelTable kernels = {};
  add<SelectOne<Shape, true>>(kernels, KernelKind::select_one_newest);
  add<SelectOne<Shape, false>>(kernels, KernelKind::select_one_oldest);
  add<SelectSeveral<Shape, true>>(kernels, KernelKind::select_several_newest);
  add<SelectSeveral<Shape, false>>(kernels, KernelKind::select_several_oldest);
  add<SelectAll<Shape>>(kernels, KernelKind::select_all);
  if constexpr (!Shape::Negations::kAny) {
    add<Reduce<Shape>>(kernels, KernelKind::reduce);
    put(kernels, KernelKind::sum, LaunchMode::separate, &separate_three_blocks<Sum<Shape>>);
    put(kernels, KernelKind::sum, LaunchMode::fused, &fused<Sum<Shape>>);
  }
  return kernels;
}

}  // namespace

std::vector<KernelTable> built_in_kernels() {
  static_assert(kAnyShape == 0 && kOneTestOfInts == 1 && kOneTestOfFloats == 2 &&
                kAnyShapeWithNegations == 3 && kNoTest == 4);
  return {kernels_of<AnyShape>(), kernels_of<OneTest<false>>(), kernels_of<OneTest<true>>(),
          kernels_of<AnyShapeWithNegations>(), kernels_of<NoTest>()};
}

}  // namespace gorgo::gpu
