#pragma once

#include "cuda/parcel.hpp"
#include "cuda/positions.cuh"
#include "cuda/reductions.cuh"

/// The kernels. There are two ways to tell a launch of its round: the round stands in the device's
/// memory, or it comes along with the launch.
namespace gorgo::gpu {

template <class Shape, bool kNewest>
struct Pick {
  using Arguments = PickArguments;
  static __device__ bool run(const View& view, const Arguments& to) {
    return pick<Shape, kNewest>(view, to);
  }
};
template <class Shape, bool kNewest>
struct Select {
  using Arguments = SelectArguments;
  static __device__ bool run(const View& view, const Arguments& to) {
    return select<Shape, kNewest>(view, to);
  }
};
template <class Shape>
struct List {
  using Arguments = ListArguments;
  static __device__ bool run(const View& view, const Arguments& to) {
    return list<Shape>(view, to);
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
__global__ void apart(const __grid_constant__ View view,
                      const __grid_constant__ typename Body::Arguments arguments) {
  Body::run(view, arguments);
}

/// Does as `apart`, with no more registers than three blocks on a multiprocessor leave: for `Sum`,
/// which takes a sixth longer with two.
template <class Body>
__global__ void __launch_bounds__(kThreads, 3)
    apart_by_three(const __grid_constant__ View view,
                   const __grid_constant__ typename Body::Arguments arguments) {
  Body::run(view, arguments);
}

/// Writes new events where they belong. Every block writes all of them, so that none waits for
/// another.
static __device__ inline void write_runs(const Parcel& parcel, const std::uint64_t* words) {
  const auto* const runs = reinterpret_cast<const Run*>(words + parcel.first_run);
  for (unsigned r = 0; r < parcel.runs; ++r) {
    for (unsigned i = threadIdx.x; i < runs[r].count; i += kThreads) {
      parcel.arena[runs[r].to + i] = words[runs[r].from + i];
    }
  }
}

/// Redirects pointers that were made as if the round stood in the device's memory.
struct Move {
  const char *from, *to;

  template <class T>
  __device__ void operator()(const T*& pointer) const {
    pointer = reinterpret_cast<const T*>(to + (reinterpret_cast<const char*>(pointer) - from));
  }
};

/// Calls move(pointer) for all that a round brings.
static __device__ inline void move_all(View& view, const Move& move) {
  move(view.pages);
  move(view.attributes);
  move(view.tests);
  move(view.instructions);
  move(view.scans);
  move(view.bounds);
  move(view.cells);
  move(view.texts);
  move(view.unless);
}

/// Leaves zeros where the launch found some, and tells the host that its answers are there. The
/// last block calls.
static __device__ inline void finish(const Parcel& parcel) {
  __syncthreads();  // what was found has been read
  for (unsigned i = threadIdx.x; i < parcel.zeros; i += kThreads) parcel.zeroed[i] = 0;
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();
  *static_cast<volatile std::uint32_t*>(parcel.flag) = parcel.number;
}

/// Runs searches of a round that comes with the launch.
template <class Body>
__global__ void along(const __grid_constant__ Parcel parcel,
                      const __grid_constant__ typename Body::Arguments arguments) {
  __shared__ alignas(16) std::uint64_t words[Parcel::kMost];
  // Through a generic address the lanes of a warp load together; they would load constants one
  // after the other.
  const std::uint64_t* data = parcel.data;
  asm volatile("" : "+l"(data));
  for (unsigned i = threadIdx.x; i < parcel.words; i += kThreads) words[i] = data[i];
  __syncthreads();
  write_runs(parcel, words);
  const Move move{reinterpret_cast<const char*>(parcel.base), reinterpret_cast<const char*>(words)};
  View view = parcel.view;
  move_all(view, move);
  typename Body::Arguments moved = arguments;
  moved.move(move);
  __syncthreads();
  if (!Body::run(view, moved)) return;
  if (gridDim.x == 1 || is_last_of(parcel.groups_done, gridDim.x)) finish(parcel);
}

}  // namespace gorgo::gpu
