#pragma once

#include "cuda/inline_upload.hpp"
#include "cuda/reductions.cuh"
#include "cuda/selections.cuh"

/// The kernels. A launch is separate or fused: a separate one finds its round in the device's
/// memory, where another kernel put it; a fused one has the round as an argument and uploads it
/// itself.
namespace gorgo::gpu {

template <class Shape, bool kNewest>
struct SelectOne {
  using Arguments = SelectOneArguments;
  static __device__ bool run(const View& view, const Arguments& to) {
    return select_one<Shape, kNewest>(view, to);
  }
};
template <class Shape, bool kNewest>
struct SelectSeveral {
  using Arguments = SelectSeveralArguments;
  static __device__ bool run(const View& view, const Arguments& to) {
    return select_several<Shape, kNewest>(view, to);
  }
};
template <class Shape>
struct SelectAll {
  using Arguments = SelectAllArguments;
  static __device__ bool run(const View& view, const Arguments& to) {
    return select_all<Shape>(view, to);
  }
};
template <class Shape>
struct Reduce {
  using Arguments = ReduceArguments<Reduction>;
  static __device__ bool run(const View& view, const Arguments& to) {
    return reduce<Shape>(view, to);
  }
};
template <class Shape>
struct Sum {
  using Arguments = ReduceArguments<FloatSum>;
  static __device__ bool run(const View& view, const Arguments& to) { return sum<Shape>(view, to); }
};

/// Runs searches of a round that stands in the device's memory.
template <class Body>
__global__ void separate(const __grid_constant__ View view,
                         const __grid_constant__ typename Body::Arguments arguments) {
  Body::run(view, arguments);
}

/// Does as `separate`, with no more registers than three blocks on a multiprocessor leave: for
/// `Sum`, which takes a sixth longer with two.
template <class Body>
__global__ void __launch_bounds__(kThreads, 3)
    separate_three_blocks(const __grid_constant__ View view,
                          const __grid_constant__ typename Body::Arguments arguments) {
  Body::run(view, arguments);
}

/// Writes new events where they belong. Every block writes all of them, so that none waits for
/// another.
static __device__ inline void write_to_arena(const InlineUpload& upload,
                                             const std::uint64_t* words) {
  const auto* const writes = reinterpret_cast<const ArenaWrite*>(words + upload.first_write);
  for (unsigned w = 0; w < upload.writes; ++w) {
    for (unsigned i = threadIdx.x; i < writes[w].count; i += kThreads) {
      upload.arena[writes[w].to + i] = words[writes[w].from + i];
    }
  }
}

/// Redirects pointers that were made as if the round stood in the device's memory.
struct Relocation {
  const char *from, *to;

  template <class T>
  __device__ void operator()(const T*& pointer) const {
    pointer = reinterpret_cast<const T*>(to + (reinterpret_cast<const char*>(pointer) - from));
  }
};

/// Redirects all pointers of a view into the round.
static __device__ inline void relocate(View& view, const Relocation& relocation) {
  relocation(view.pages);
  relocation(view.attributes);
  relocation(view.tests);
  relocation(view.instructions);
  relocation(view.scans);
  relocation(view.bounds);
  relocation(view.cells);
  relocation(view.texts);
  relocation(view.negations);
}

/// Leaves zeros where the launch found some, and tells the host that its answers are there. The
/// last block calls.
static __device__ inline void finish(const InlineUpload& upload) {
  __syncthreads();  // what was found has been read
  for (unsigned i = threadIdx.x; i < upload.zeros; i += kThreads) upload.zeroed[i] = 0;
  __syncthreads();
  if (threadIdx.x != 0) return;
  // Pairs with the acquire in `FusedLaunches::has_answered`. What other blocks wrote comes before
  // it, because `is_last_block` has acquired it.
  __nv_atomic_store_n(upload.flag, upload.number, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
}

/// Runs searches of a round that comes with the launch.
template <class Body>
__global__ void fused(const __grid_constant__ InlineUpload upload,
                      const __grid_constant__ typename Body::Arguments arguments) {
  __shared__ alignas(16) std::uint64_t words[InlineUpload::kWords];
  // Through a generic address the lanes of a warp load together; they would load constants one
  // after the other.
  const std::uint64_t* data = upload.data;
  asm volatile("" : "+l"(data));
  for (unsigned i = threadIdx.x; i < upload.words; i += kThreads) words[i] = data[i];
  __syncthreads();
  write_to_arena(upload, words);
  const Relocation relocation{reinterpret_cast<const char*>(upload.base),
                              reinterpret_cast<const char*>(words)};
  View view = upload.view;
  relocate(view, relocation);
  typename Body::Arguments relocated = arguments;
  relocated.relocate(relocation);
  __syncthreads();
  if (!Body::run(view, relocated)) return;
  if (gridDim.x == 1 || is_last_block(upload.groups_done, gridDim.x)) finish(upload);
}

}  // namespace gorgo::gpu
