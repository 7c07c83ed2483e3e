#pragma once

#include "cuda/tile.cuh"

/// Reductions over all positions. They are not CUB's, because NVRTC compiles them, too, on machines
/// without a toolkit, and CUB's headers take it more than a second for each kernel
/// (docs/gpu/kernels.md).
namespace gorgo::gpu {

__device__ inline std::uint64_t sum_over_warp(std::uint64_t value) {
  for (unsigned step = kWarpSize / 2; step > 0; step /= 2) {
    value += __shfl_down_sync(kAllLanes, value, step);
  }
  return value;
}
__device__ inline std::uint64_t greatest_of_warp(std::uint64_t value) {
  for (unsigned step = kWarpSize / 2; step > 0; step /= 2) {
    const std::uint64_t other = __shfl_down_sync(kAllLanes, value, step);
    value = other > value ? other : value;
  }
  return value;
}

/// Does as `merge` while other threads do the same.
__device__ inline void merge_among_others(Reduction& to, const Reduction& from) {
  const auto word = [](std::uint64_t& field) {
    return reinterpret_cast<unsigned long long*>(&field);
  };
  atomicAdd(word(to.count), from.count);
  if (from.numbers == 0) return;
  atomicAdd(word(to.numbers), from.numbers);
  atomicAdd(word(to.low), from.low);
  atomicAdd(word(to.high), from.high);
  atomicMax(word(to.least), from.least);
  atomicMax(word(to.greatest), from.greatest);
}

/// Merges what the lanes of a warp have. The first lane gets the result.
__device__ inline Reduction over_warp(const Scan& scan, Reduction mine) {
  mine.count = __reduce_add_sync(kAllLanes, static_cast<unsigned>(mine.count));
  if (scan.reduced == kNone) return mine;
  mine.numbers = __reduce_add_sync(kAllLanes, static_cast<unsigned>(mine.numbers));
  mine.low = sum_over_warp(mine.low);
  mine.high = sum_over_warp(mine.high);
  mine.least = greatest_of_warp(mine.least);
  mine.greatest = greatest_of_warp(mine.greatest);
  return mine;
}

/// A warp reduces the positions of a tile's row that are in [first, last). Its first lane gets the
/// result.
template <class Tile>
__device__ Reduction reduction_of_row(const View& view, const Scan& scan, const Tile& tile,
                                      unsigned row, std::uint64_t first, std::uint64_t last) {
  Reduction mine = {};
  for (unsigned step = threadIdx.x % kWarpSize; step < kThreads; step += kWarpSize) {
    const std::uint64_t position = tile.begin() + row * kThreads + step;
    if (position >= first && position < last) merge(mine, reduction_of(view, scan, position));
  }
  return over_warp(scan, mine);
}

/// COUNT, SUM of ints, MIN, MAX.
template <class Shape>
__device__ __forceinline__ bool reduce(const View& view, const ReduceArguments<Reduction>& to) {
  __shared__ SharedGroup<Shape> grouped;
  __shared__ Reduction partial[kMostGrouped];
  const Search* const searches = to.searches;
  const Group group = to.groups[blockIdx.x];
  const ChunkRange chunk(to.chunks, group, blockIdx.y);
  if (chunk.first < chunk.last) {
    if (threadIdx.x < kMostGrouped) partial[threadIdx.x] = {};
    grouped.load(view, searches, group);
    const Scan scan = view.scans[searches[group.first].scan];
    const auto add = [&](unsigned i, const Reduction& of_warp) {
      if (threadIdx.x % kWarpSize == 0) merge_among_others(partial[i], of_warp);
    };
    if constexpr (Shape::kAll) {
      __shared__ Reduction rows[Tile<Shape>::kEvents];
      take_all<Tile<Shape>>(
          view, scan, grouped, group, chunk,
          [&](const Tile<Shape>& tile, unsigned row) {
            const Reduction all = reduction_of_row(view, scan, tile, row, tile.begin(), tile.end());
            if (threadIdx.x % kWarpSize == 0) rows[row] = all;
          },
          [&](unsigned i, unsigned whole) {
            const unsigned lane = threadIdx.x % kWarpSize;
            add(i, over_warp(scan, (whole >> lane & 1u) != 0 ? rows[lane] : Reduction{}));
          },
          [&](unsigned i, const Tile<Shape>& tile, unsigned row, std::uint64_t first,
              std::uint64_t last) {
            add(i, reduction_of_row(view, scan, tile, row, first, last));
          });
    } else {
      const auto columns = Shape::columns(view, scan);
      const auto found = [&](const Tile<Shape>& tile, unsigned i, unsigned mask) {
        if (!__any_sync(kAllLanes, mask != 0)) return;
        Reduction mine = {};
        for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
          merge(mine, reduction_of(view, scan, tile.position(__ffs(rest) - 1)));
        }
        add(i, over_warp(scan, mine));
      };
      test_all<Tile<Shape>>(view, scan, columns, grouped, group, chunk, found);
    }
    __syncthreads();
    if (threadIdx.x < group.count && partial[threadIdx.x].count != 0) {
      merge_among_others(to.totals[group.first + threadIdx.x], partial[threadIdx.x]);
    }
  }
  const bool last = is_last_block(to.done + blockIdx.x, gridDim.y);
  if (last && threadIdx.x < group.count) {
    const std::uint32_t row = group.first + threadIdx.x;
    const auto* const words = reinterpret_cast<const std::uint64_t*>(to.totals + row);
    auto* const on_host = reinterpret_cast<std::uint64_t*>(to.totals_on_host + row);
    constexpr unsigned kWords = sizeof(Reduction) / sizeof(std::uint64_t);
    for (unsigned i = 0; i < kWords; ++i) on_host[i] = __ldcg(words + i);
  }
  return last;
}

__device__ inline Int128 sum_over_warp(Int128 value) {
  for (unsigned step = kWarpSize / 2; step > 0; step /= 2) {
    const auto bits = static_cast<UInt128>(value);
    const std::uint64_t low = __shfl_down_sync(kAllLanes, static_cast<std::uint64_t>(bits), step);
    const std::uint64_t high =
        __shfl_down_sync(kAllLanes, static_cast<std::uint64_t>(bits >> 64), step);
    value += static_cast<Int128>(static_cast<UInt128>(high) << 64 | low);
  }
  return value;
}

/// Adds a number while other threads do the same.
__device__ inline void add_among_others(std::uint64_t& to, std::uint64_t number) {
  if (number != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&to), number);
}

/// Adds the floats of a warp's lanes; lanes that have none give zeros. Most floats that occur
/// together are of about the same magnitude, so they are added up before a sum that others add to
/// is touched.
template <unsigned kFloats>
__device__ inline void add_floats(FloatSum& to, const std::uint64_t (&words)[kFloats]) {
  const auto add = [&](std::uint32_t limb, std::uint64_t number) {
    add_among_others(to.limbs[limb], number);
  };
  std::uint32_t highest = 0;
#pragma unroll
  for (unsigned j = 0; j < kFloats; ++j) {
    if (is_finite(words[j])) highest = max(highest, magnitude_of(words[j]).bit / 32);
  }
  highest = __reduce_max_sync(kAllLanes, highest);
  const std::uint32_t first = highest > 0 ? highest - 1 : 0;
  Int128 sum = 0;
#pragma unroll
  for (unsigned j = 0; j < kFloats; ++j) {
    const std::uint64_t word = words[j];
    const Magnitude magnitude = magnitude_of(word);
    if (!is_finite(word)) {
      const bool nan = as_float(word) != as_float(word);
      add_among_others(nan ? to.nans : word >> 63 != 0 ? to.negative_infinities : to.infinities, 1);
    } else if (magnitude.bit >= 32 * first) {
      sum += units_of(word, magnitude, first);
    } else {
      const std::uint32_t limb = magnitude.bit / 32;
      add_to_limbs(limb, units_of(word, magnitude, limb), add);
    }
  }
  sum = sum_over_warp(sum);
  if (threadIdx.x % kWarpSize == 0) add_to_limbs(first, sum, add);
}

/// Adds those floats `cell_of(j)` of each of a warp's lanes that exist.
template <unsigned kFloats, class CellOf>
__device__ inline void add_cells(FloatSum& to, CellOf cell_of) {
  std::uint64_t words[kFloats];
  unsigned count = 0;
#pragma unroll
  for (unsigned j = 0; j < kFloats; ++j) {
    const Cell cell = cell_of(j);
    words[j] = cell.bits;
    count += cell.exists != 0 ? 1 : 0;
  }
  count = __reduce_add_sync(kAllLanes, count);
  if (threadIdx.x % kWarpSize == 0) add_among_others(to.count, count);
  add_floats(to, words);
}

/// A warp adds the floats of the positions of a tile's row that are in [first, last).
template <class Tile>
__device__ inline void add_row(FloatSum& to, const View& view, const Attribute& summed,
                               const Tile& tile, unsigned row, std::uint64_t first,
                               std::uint64_t last) {
  const std::uint64_t begin = tile.begin() + row * kThreads + threadIdx.x % kWarpSize;
  add_cells<kThreads / kWarpSize>(to, [&](unsigned j) {
    const std::uint64_t position = begin + j * kWarpSize;
    return position >= first && position < last ? load(view, summed, position) : Cell{};
  });
}

/// Exact sums of floats.
template <class Shape>
__device__ __forceinline__ bool sum(const View& view, const ReduceArguments<FloatSum>& to) {
  __shared__ SharedGroup<Shape> grouped;
  __shared__ FloatSum partial[kMostGrouped];
  constexpr unsigned kWords = sizeof(FloatSum) / sizeof(std::uint64_t);
  auto* const partial_words = reinterpret_cast<std::uint64_t*>(partial);
  const Search* const searches = to.searches;
  const Group group = to.groups[blockIdx.x];
  auto* const words = reinterpret_cast<std::uint64_t*>(to.totals + group.first);
  const ChunkRange chunk(to.chunks, group, blockIdx.y);
  if (chunk.first < chunk.last) {
    for (unsigned i = threadIdx.x; i < group.count * kWords; i += kThreads) partial_words[i] = 0;
    grouped.load(view, searches, group);
    const Scan scan = view.scans[searches[group.first].scan];
    const Attribute summed = view.attributes[scan.attributes + scan.reduced];
    using SumTile = Tile<Shape, 8>;
    if constexpr (Shape::kAll) {
      __shared__ FloatSum rows[SumTile::kEvents];
      auto* const row_words = reinterpret_cast<std::uint64_t*>(rows);
      const unsigned lane = threadIdx.x % kWarpSize;
      take_all<SumTile>(
          view, scan, grouped, group, chunk,
          [&](const SumTile& tile, unsigned row) {
            for (unsigned w = lane; w < kWords; w += kWarpSize) row_words[row * kWords + w] = 0;
            __syncwarp();
            add_row(rows[row], view, summed, tile, row, tile.begin(), tile.end());
          },
          [&](unsigned i, unsigned whole) {
            for (unsigned w = lane; w < kWords; w += kWarpSize) {
              std::uint64_t all = 0;
              for (unsigned rest = whole; rest != 0; rest &= rest - 1) {
                all += row_words[(__ffs(rest) - 1) * kWords + w];
              }
              partial_words[i * kWords + w] += all;
            }
            __syncwarp();
          },
          [&](unsigned i, const SumTile& tile, unsigned row, std::uint64_t first,
              std::uint64_t last) { add_row(partial[i], view, summed, tile, row, first, last); });
    } else {
      const auto columns = Shape::columns(view, scan);
      const auto found = [&](const SumTile& tile, unsigned i, unsigned mask) {
        if (!__any_sync(kAllLanes, mask != 0)) return;
        add_cells<SumTile::kEvents>(partial[i], [&](unsigned j) {
          return (mask >> j & 1u) != 0 ? load(view, summed, tile.position(j)) : Cell{};
        });
      };
      test_all<SumTile>(view, scan, columns, grouped, group, chunk, found);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < group.count * kWords; i += kThreads) {
      add_among_others(words[i], partial_words[i]);
    }
  }
  const bool last = is_last_block(to.done + blockIdx.x, gridDim.y);
  if (last) {
    auto* const on_host = reinterpret_cast<std::uint64_t*>(to.totals_on_host + group.first);
    for (unsigned i = threadIdx.x; i < group.count * kWords; i += kThreads) {
      on_host[i] = __ldcg(words + i);
    }
  }
  return last;
}

}  // namespace gorgo::gpu
