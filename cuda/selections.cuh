#pragma once

#include "cuda/tile.cuh"

/// Searches for positions: one, several or all.
namespace gorgo::gpu {

/// Each lane of a warp has an event. Returns those of `lanes` whose event no negation of the search
/// keeps from being found. All lanes call this together, and `position_of(lane)` is the same for
/// all.
template <class Shape, class PositionOf>
__device__ inline unsigned without_violated(const View& view, const Search& search, unsigned lanes,
                                            PositionOf position_of) {
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    const unsigned lane = __ffs(rest) - 1;
    if (is_violated<Shape>(view, search, position_of(lane))) lanes &= ~(1u << lane);
  }
  return lanes;
}

/// Turns an offset into a number that is not 0, and the greater the more the position is wanted.
template <bool kNewest>
__device__ inline std::uint32_t rank_of(std::uint64_t offset) {
  const auto low = static_cast<std::uint32_t>(offset);
  return kNewest ? low + 1 : ~low;
}
template <bool kNewest>
__device__ inline std::uint32_t offset_of(std::uint32_t rank) {
  return kNewest ? rank - 1 : ~rank;
}

/// What blocks have found so far. No order is needed: an older answer only costs work.
__device__ inline std::uint32_t rank_so_far(std::uint32_t* rank) {
  return __nv_atomic_load_n(rank, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

/// Searches for the newest or the oldest position alone. The chunks that are wanted most come
/// first; a search whose position is found asks no tile behind it.
template <class Shape, bool kNewest>
__device__ __forceinline__ bool select_one(const View& view, const SelectOneArguments& to) {
  __shared__ SharedGroup<Shape> grouped;
  __shared__ std::uint32_t best[kMostGrouped];
  const Search* const searches = to.searches;
  const Group group = to.groups[blockIdx.x];
  std::uint32_t* const ranks = to.ranks + group.first;
  const unsigned number = kNewest ? to.chunks.per_group - 1 - blockIdx.y : blockIdx.y;
  const ChunkRange chunk(to.chunks, group, number);
  if (threadIdx.x < kMostGrouped) best[threadIdx.x] = 0;
  if (chunk.first < chunk.last) {
    grouped.load(view, searches, group);
    const Scan scan = view.scans[searches[group.first].scan];
    const auto columns = Shape::columns(view, scan);
    constexpr unsigned kSize = Tile<Shape>::kSize;
    const std::uint64_t tiles = (chunk.last - chunk.first + kSize - 1) / kSize;
    for (std::uint64_t t = 0; t < tiles; ++t) {
      const std::uint64_t begin = chunk.first + (kNewest ? tiles - 1 - t : t) * kSize;
      const Tile<Shape> tile(view, scan, begin, chunk.last);
      grouped.collect_active(group, tile, [&](unsigned i) {
        const std::uint32_t known = rank_so_far(ranks + i);
        const std::uint32_t rank = known > best[i] ? known : best[i];
        if (rank == 0) return true;
        const std::uint64_t at = grouped.first[i] + offset_of<kNewest>(rank);
        return kNewest ? at < begin : at >= tile.end();
      });
      tile.test(grouped, columns, [&](unsigned i, unsigned mask) {
        while (__any_sync(kAllLanes, mask != 0)) {
          const unsigned j = kNewest ? 31 - __clz(mask) : __ffs(mask) - 1;
          const std::uint32_t rank =
              mask == 0 ? 0 : rank_of<kNewest>(tile.position(j) - grouped.first[i]);
          const std::uint32_t greatest = __reduce_max_sync(kAllLanes, rank);
          if constexpr (Shape::Negations::kAny) {
            // Negations take long: whoever has found something tells the others at once.
            std::uint32_t known = 0;
            if (threadIdx.x % kWarpSize == 0) known = rank_so_far(ranks + i);
            if (__shfl_sync(kAllLanes, known, 0) >= greatest) return;
            const std::uint64_t at = grouped.first[i] + offset_of<kNewest>(greatest);
            if (is_violated<Shape>(view, searches[group.first + i], at)) {
              if (rank == greatest) mask &= ~(1u << j);
              continue;
            }
            if (threadIdx.x % kWarpSize == 0) atomicMax(ranks + i, greatest);
          }
          if (threadIdx.x % kWarpSize == 0) atomicMax(&best[i], greatest);
          return;
        }
      });
    }
    __syncthreads();
    if (threadIdx.x < group.count && best[threadIdx.x] != 0) {
      atomicMax(ranks + threadIdx.x, best[threadIdx.x]);
    }
  }
  const bool last = is_last_block(to.done + blockIdx.x, gridDim.y);
  if (last && threadIdx.x < group.count) {
    const std::uint32_t row = group.first + threadIdx.x;
    const std::uint32_t rank = __ldcg(ranks + threadIdx.x);
    to.found[row] = rank == 0 ? 0 : 1;
    if (rank != 0) to.selected[searches[row].output] = offset_of<kNewest>(rank);
  }
  return last;
}

/// Searches for every position.
template <class Shape>
__device__ __forceinline__ bool select_all(const View& view, const SelectAllArguments& to) {
  __shared__ SharedGroup<Shape> grouped;
  __shared__ unsigned passed[kMostGrouped];
  const Search* const searches = to.searches;
  const Group group = to.groups[blockIdx.x];
  const ChunkRange chunk(to.chunks, group, blockIdx.y);
  if (threadIdx.x < kMostGrouped) passed[threadIdx.x] = 0;
  if (chunk.first < chunk.last) {
    grouped.load(view, searches, group);
    const Scan scan = view.scans[searches[group.first].scan];
    const auto columns = Shape::columns(view, scan);
    const auto found = [&](const Tile<Shape>& tile, unsigned i, unsigned mask) {
      const unsigned lane = threadIdx.x % kWarpSize;
      if constexpr (Shape::Negations::kAny) {
#pragma unroll 1
        for (unsigned j = 0; j < Tile<Shape>::kEvents; ++j) {
          const unsigned all = __ballot_sync(kAllLanes, (mask >> j & 1u) != 0);
          const unsigned left =
              without_violated<Shape>(view, searches[group.first + i], all,
                                      [&](unsigned of) { return tile.position(j) - lane + of; });
          if ((left >> lane & 1u) == 0) mask &= ~(1u << j);
        }
      }
      if (!__any_sync(kAllLanes, mask != 0)) return;
      const unsigned total = __reduce_add_sync(kAllLanes, __popc(mask));
      unsigned long long at = 0;
      if (lane == 0) {
        atomicAdd(&passed[i], total);
        at = atomicAdd(to.total, static_cast<unsigned long long>(total));
      }
      at = __shfl_sync(kAllLanes, at, 0);
#pragma unroll
      for (unsigned j = 0; j < Tile<Shape>::kEvents; ++j) {
        const bool mine = (mask >> j & 1u) != 0;
        const unsigned all = __ballot_sync(kAllLanes, mine);
        const unsigned long long number = at + __popc(all & ((1u << lane) - 1));
        if (mine && number < to.most) {
          const std::uint64_t offset = tile.position(j) - grouped.first[i];
          to.matches[number] = {group.first + i, static_cast<std::uint32_t>(offset)};
        }
        at += __popc(all);
      }
    };
    test_all<Tile<Shape>>(view, scan, columns, grouped, group, chunk, found);
    __syncthreads();
    if (threadIdx.x < group.count && passed[threadIdx.x] != 0) {
      atomicAdd(to.counts + group.first + threadIdx.x, passed[threadIdx.x]);
    }
  }
  const bool last = is_last_block(to.done + blockIdx.x, gridDim.y);
  if (last && threadIdx.x < group.count) {
    const std::uint32_t row = group.first + threadIdx.x;
    to.counts_on_host[row] = __ldcg(to.counts + row);
  }
  return last;
}

/// Searches for some of the newest or oldest positions: a block for each walks its range from the
/// end that is wanted and stops at the first tile that makes the selection complete.
template <class Shape, bool kNewest>
__device__ __forceinline__ bool select_several(const View& view, const SelectSeveralArguments& to) {
  __shared__ unsigned counts[2][kWarps];
  __shared__ typename Shape::Parameters parameters;
  const std::uint32_t row = to.rows[blockIdx.x];
  const Search search = to.searches[row];
  const Scan scan = view.scans[search.scan];
  const auto columns = Shape::columns(view, scan);
  if (threadIdx.x == 0) parameters = Shape::parameters(view, search);
  const std::uint64_t size = search.last - search.first;
  const unsigned warp = threadIdx.x / kWarpSize, lane = threadIdx.x % kWarpSize;
  constexpr unsigned kAtATime = Tile<Shape, 8>::kEvents;
  // Each warp has a run of positions, lane by lane.
  const auto nth = [&](unsigned j) { return (warp * kAtATime + j) * kWarpSize + lane; };
  const auto offset = [&](std::uint64_t i) { return kNewest ? size - 1 - i : i; };
  std::uint32_t taken = 0;
  unsigned parity = 0;
  __syncthreads();
  for (std::uint64_t begin = 0; begin < size && taken < search.limit;
       begin += kThreads * kAtATime) {
    typename Shape::Values values[kAtATime];
#pragma unroll
    for (unsigned j = 0; j < kAtATime; ++j) {
      const std::uint64_t i = begin + nth(j);
      if (i < size) values[j] = Shape::load(view, columns, search.first + offset(i));
    }
    unsigned masks[kAtATime];
    unsigned passed = 0;
#pragma unroll
    for (unsigned j = 0; j < kAtATime; ++j) {
      bool passes = begin + nth(j) < size;
      if (passes) passes = decides<Shape>(view, scan, parameters, values[j]);
      masks[j] = __ballot_sync(kAllLanes, passes);
      passed += __popc(masks[j]);
    }
    if constexpr (Shape::Negations::kAny) {
      passed = 0;
#pragma unroll 1
      for (unsigned j = 0; j < kAtATime; ++j) {
        masks[j] = without_violated<Shape>(view, search, masks[j], [&](unsigned of) {
          return search.first + offset(begin + nth(j) - lane + of);
        });
        passed += __popc(masks[j]);
      }
    }
    if (lane == 0) counts[parity][warp] = passed;
    __syncthreads();
    unsigned before = taken;
    for (unsigned w = 0; w < kWarps; ++w) {
      if (w < warp) before += counts[parity][w];
      taken += counts[parity][w];
    }
#pragma unroll
    for (unsigned j = 0; j < kAtATime; ++j) {
      const unsigned rank = before + __popc(masks[j] & ((1u << lane) - 1));
      if ((masks[j] >> lane & 1u) != 0 && rank < search.limit) {
        to.selected[search.output + rank] = static_cast<std::uint32_t>(offset(begin + nth(j)));
      }
      before += __popc(masks[j]);
    }
    parity ^= 1u;
  }
  if (threadIdx.x == 0) to.found[row] = taken < search.limit ? taken : search.limit;
  return true;
}

}  // namespace gorgo::gpu
