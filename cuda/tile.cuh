#pragma once

#include "cuda/launch_arguments.hpp"
#include "cuda/negation.hpp"

/// How the pairs of searches and positions are spread over threads. What passes is decided by
/// shapes. Every kernel runs in blocks of kThreads.
///
/// Searches of one scan that stand side by side are a group. A block has some events of a chunk
/// of the column in registers and goes through the searches of its group, so that an event is
/// loaded once for all of them. The x of a block is its group, the y its chunk.
///
/// Blocks talk to each other and to the host by the compiler's atomic builtins, which take an order
/// and a scope as `cuda::atomic_ref` does, but need no header: NVRTC compiles these kernels, on
/// machines without a toolkit, and <cuda/atomic> takes it a second for each of them
/// (docs/gpu/kernels.md). Where only a number is added to or raised, `atomicAdd` and `atomicMax`
/// are the relaxed builtins of the device's scope, and the compiler makes better use of shared
/// memory for them.
namespace gorgo::gpu {

inline constexpr unsigned kWarps = kThreads / kWarpSize;
inline constexpr unsigned kAllLanes = ~0u;

/// The searches of a group, and those of them that a tile is tested for, in shared memory.
template <class Shape>
struct SharedGroup {
  std::uint64_t first[kMostGrouped], last[kMostGrouped];
  typename Shape::Parameters parameters[kMostGrouped];
  unsigned active[kMostGrouped];  ///< their numbers, with `kCovers` where the range covers the tile
  unsigned active_count;

  static constexpr unsigned kCovers = kMostGrouped;

  __device__ void load(const View& view, const Search* searches, const Group& group) {
    if (threadIdx.x < group.count) {
      const Search search = searches[group.first + threadIdx.x];
      first[threadIdx.x] = search.first;
      last[threadIdx.x] = search.last;
      parameters[threadIdx.x] = Shape::parameters(view, search);
    }
    __syncthreads();
  }

  /// Lists in `active` the searches that have positions in a tile and that `wants(i)`. The whole
  /// block calls.
  template <class Tile, class Wants>
  __device__ void collect_active(const Group& group, const Tile& tile, Wants wants) {
    const std::uint64_t begin = tile.begin(), end = tile.end();
    __syncthreads();
    if (threadIdx.x < kWarpSize) {
      const unsigned i = threadIdx.x;
      const bool is_active = i < group.count && first[i] < end && last[i] > begin && wants(i);
      const unsigned all = __ballot_sync(kAllLanes, is_active);
      const bool covers =
          is_active && end - begin == Tile::kSize && first[i] <= begin && last[i] >= end;
      if (is_active) active[__popc(all & ((1u << i) - 1))] = covers ? i | kCovers : i;
      if (i == 0) active_count = __popc(all);
    }
    __syncthreads();
  }
};

/// Tests the pairs of a group's searches and a tile's positions. For each search, the lanes of a
/// warp call `found(search, mask)` together; bit j of a mask stands for `position(j)`. `kMost`
/// bounds the events that a thread has in registers, if what it finds needs registers, too.
template <class Shape, unsigned kMost = 32>
class Tile {
 public:
  static constexpr unsigned kEvents = Shape::kAtATime < kMost ? Shape::kAtATime : kMost;
  static constexpr unsigned kSize = kThreads * kEvents;

  __device__ Tile(const View& view, const Scan& scan, std::uint64_t begin, std::uint64_t end)
      : view_(view), scan_(scan), begin_(begin), end_(begin + kSize < end ? begin + kSize : end) {}

  __device__ std::uint64_t begin() const { return begin_; }
  __device__ std::uint64_t end() const { return end_; }
  __device__ std::uint64_t position(unsigned j) const {
    return begin_ + j * kThreads + threadIdx.x;
  }

  template <class Found>
  __device__ void test(const SharedGroup<Shape>& grouped, const typename Shape::Columns& columns,
                       Found found) const {
    if (grouped.active_count == 0) return;
    typename Shape::Values values[kEvents];
#pragma unroll
    for (unsigned j = 0; j < kEvents; ++j) {
      if (position(j) < end_) values[j] = Shape::load(view_, columns, position(j));
    }
    for (unsigned a = 0; a < grouped.active_count; ++a) {
      const unsigned entry = grouped.active[a], i = entry % kMostGrouped;
      const bool covers = (entry & SharedGroup<Shape>::kCovers) != 0;
      const unsigned inside = covers ? ~0u : inside_of(grouped.first[i], grouped.last[i]);
      const typename Shape::Parameters parameters = grouped.parameters[i];
      unsigned mask = 0;
#pragma unroll
      for (unsigned j = 0; j < kEvents; ++j) {
        if (!Shape::kEager && (inside >> j & 1u) == 0) continue;
        mask |= Shape::passes(view_, scan_, parameters, values[j]) ? 1u << j : 0u;
      }
      mask &= inside;
      if constexpr (Shape::kConfirms) mask = confirmed(columns, parameters, mask);
      found(i, mask);
    }
  }

 private:
  /// Leaves the positions that are confirmed. Those that pass are mostly few: each is loaded again.
  __device__ unsigned confirmed(const typename Shape::Columns& columns,
                                const typename Shape::Parameters& parameters, unsigned mask) const {
#pragma unroll 1
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
      const unsigned j = __ffs(rest) - 1;
      const auto values = Shape::load(view_, columns, position(j));
      if (!Shape::confirms(view_, scan_, parameters, values)) mask &= ~(1u << j);
    }
    return mask;
  }

  __device__ unsigned inside_of(std::uint64_t first, std::uint64_t last) const {
    unsigned mask = 0;
#pragma unroll
    for (unsigned j = 0; j < kEvents; ++j) {
      const std::uint64_t p = position(j);
      if (p >= first && p < last && p < end_) mask |= 1u << j;
    }
    return mask;
  }

  const View& view_;
  const Scan& scan_;
  const std::uint64_t begin_, end_;
};

struct ChunkRange {
  std::uint64_t first, last;
  __device__ ChunkRange(const Chunks& chunks, const Group& group, unsigned chunk)
      : first(group.base + chunk * chunks.size),
        last(first + chunks.size < group.end ? first + chunks.size : group.end) {}
};

/// Tests a chunk's positions for all searches of the group: `found(tile, search, mask)` as for
/// `Tile::test`. The whole block calls.
template <class Tile, class Shape, class Found>
__device__ __forceinline__ void test_all(const View& view, const Scan& scan,
                                         const typename Shape::Columns& columns,
                                         SharedGroup<Shape>& grouped, const Group& group,
                                         const ChunkRange& chunk, Found found) {
  for (std::uint64_t begin = chunk.first; begin < chunk.last; begin += Tile::kSize) {
    const Tile tile(view, scan, begin, chunk.last);
    grouped.collect_active(group, tile, [](unsigned) { return true; });
    tile.test(grouped, columns, [&](unsigned i, unsigned mask) { found(tile, i, mask); });
  }
}

/// Finds, for shapes that every event passes, what a row of a tile, kThreads positions, comes to
/// once for all searches. A warp calls `of_row(tile, row)` for each row. Then it calls, for each
/// search, `take(search, rows)` with a bit for each row that the search's range covers, and
/// `take_some(search, tile, row, first, last)` for each of up to two other rows, of which the range
/// has the positions in [first, last). The whole block calls.
template <class Tile, class Shape, class OfRow, class Take, class TakeSome>
__device__ __forceinline__ void take_all(const View& view, const Scan& scan,
                                         SharedGroup<Shape>& grouped, const Group& group,
                                         const ChunkRange& chunk, OfRow of_row, Take take,
                                         TakeSome take_some) {
  const unsigned warp = threadIdx.x / kWarpSize;
  for (std::uint64_t begin = chunk.first; begin < chunk.last; begin += Tile::kSize) {
    const Tile tile(view, scan, begin, chunk.last);
    grouped.collect_active(group, tile, [](unsigned) { return true; });
    if (grouped.active_count == 0) continue;
    for (unsigned row = warp; row < Tile::kEvents; row += kWarps) of_row(tile, row);
    __syncthreads();
    for (unsigned a = warp; a < grouped.active_count; a += kWarps) {
      const unsigned i = grouped.active[a] % kMostGrouped;
      const RowsOfRange rows =
          rows_of(grouped.first[i], grouped.last[i], tile.begin(), tile.end(), kThreads);
      if (rows.whole != 0) take(i, rows.whole);
      if (!rows.covers(rows.first_row)) take_some(i, tile, rows.first_row, rows.first, rows.last);
      if (rows.last_row != rows.first_row && !rows.covers(rows.last_row)) {
        take_some(i, tile, rows.last_row, rows.first, rows.last);
      }
    }
  }
}

/// Whether all other blocks of so many are done; `done` counts them. The last block sees what the
/// others wrote: the barriers order the threads of a block with its first one, whose addition
/// releases what its block wrote and acquires what the blocks before it released. The whole block
/// calls.
static __device__ inline bool is_last_block(std::uint32_t* done, std::uint32_t blocks) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    last = __nv_atomic_fetch_add(done, 1u, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE) + 1 ==
           blocks;
  }
  __syncthreads();
  return last;
}

}  // namespace gorgo::gpu
