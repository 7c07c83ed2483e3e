#pragma once

#include "cuda/negation.hpp"

/// The kernels: how the pairs of searches and positions are spread over threads. What passes is
/// decided by shapes. Every kernel runs in blocks of kThreads.
///
/// Searches of one scan that stand side by side are a group. A block has some events of a part of
/// the column in registers and goes through the searches of its group, so that an event is loaded
/// once for all of them. Groups are told by the x of a block, parts by its y.
namespace gorgo::cuda {

inline constexpr unsigned kWarp = kLanes;
inline constexpr unsigned kThreads = 256;
inline constexpr unsigned kWarps = kThreads / kWarp;
inline constexpr unsigned kAllLanes = ~0u;
/// Parts are multiples of it: what any shape has in registers divides it.
inline constexpr unsigned kTile = kThreads * 8;

/// How the ranges of groups are cut.
struct Parts {
  std::uint64_t size;  ///< positions, a multiple of kTile
  std::uint32_t each;  ///< of a group
};

/// The searches of a group, and those of them that a tile is tested for, in shared memory.
template <class Shape>
struct Grouped {
  std::uint64_t first[kMostGrouped], last[kMostGrouped];
  typename Shape::Own own[kMostGrouped];
  unsigned asking[kMostGrouped];
  unsigned asked;

  __device__ void load(const View& view, const Search* searches, const Group& group) {
    if (threadIdx.x < group.count) {
      const Search search = searches[group.first + threadIdx.x];
      first[threadIdx.x] = search.first;
      last[threadIdx.x] = search.last;
      own[threadIdx.x] = Shape::own(view, search);
    }
    __syncthreads();
  }

  /// Of [begin, end), those that `wants(i)`; the whole block calls.
  template <class Wants>
  __device__ void ask(const Group& group, std::uint64_t begin, std::uint64_t end, Wants wants) {
    __syncthreads();
    if (threadIdx.x < kWarp) {
      const unsigned i = threadIdx.x;
      const bool asks = i < group.count && first[i] < end && last[i] > begin && wants(i);
      const unsigned all = __ballot_sync(kAllLanes, asks);
      if (asks) asking[__popc(all & ((1u << i) - 1))] = i;
      if (i == 0) asked = __popc(all);
    }
    __syncthreads();
  }
};

/// Tests the pairs of a group's searches and a tile's positions. For each search, the lanes of a
/// warp call `found(search, mask)` together; bit j of a mask stands for `position(j)`.
template <class Shape>
class Tile {
 public:
  static constexpr unsigned kSize = kThreads * Shape::kAtATime;

  __device__ Tile(const View& view, const Scan& scan, std::uint64_t begin, std::uint64_t end)
      : view_(view), scan_(scan), begin_(begin), end_(begin + kSize < end ? begin + kSize : end) {}

  __device__ std::uint64_t end() const { return end_; }
  __device__ std::uint64_t position(unsigned j) const {
    return begin_ + j * kThreads + threadIdx.x;
  }

  template <class Found>
  __device__ void test(const Grouped<Shape>& grouped, const typename Shape::Columns& columns,
                       Found found) const {
    if (grouped.asked == 0) return;
    typename Shape::Values values[Shape::kAtATime];
#pragma unroll
    for (unsigned j = 0; j < Shape::kAtATime; ++j) {
      if (position(j) < end_) values[j] = Shape::load(view_, columns, position(j));
    }
    for (unsigned a = 0; a < grouped.asked; ++a) {
      const unsigned i = grouped.asking[a];
      const bool all = grouped.first[i] <= begin_ && grouped.last[i] >= begin_ + kSize &&
                       end_ == begin_ + kSize;
      const unsigned inside = all ? ~0u : inside_of(grouped.first[i], grouped.last[i]);
      const typename Shape::Own own = grouped.own[i];
      unsigned mask = 0;
#pragma unroll
      for (unsigned j = 0; j < Shape::kAtATime; ++j) {
        if (!Shape::kEager && (inside >> j & 1u) == 0) continue;
        mask |= Shape::passes(view_, scan_, own, values[j]) ? 1u << j : 0u;
      }
      mask &= inside;
      if constexpr (Shape::kConfirms) mask = confirmed(columns, own, mask);
      found(i, mask);
    }
  }

 private:
  /// Of positions that pass. They are mostly few: each is loaded again.
  __device__ unsigned confirmed(const typename Shape::Columns& columns,
                                const typename Shape::Own& own, unsigned mask) const {
#pragma unroll 1
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
      const unsigned j = __ffs(rest) - 1;
      const auto values = Shape::load(view_, columns, position(j));
      if (!Shape::confirms(view_, scan_, own, values)) mask &= ~(1u << j);
    }
    return mask;
  }

  __device__ unsigned inside_of(std::uint64_t first, std::uint64_t last) const {
    unsigned mask = 0;
#pragma unroll
    for (unsigned j = 0; j < Shape::kAtATime; ++j) {
      const std::uint64_t p = position(j);
      if (p >= first && p < last && p < end_) mask |= 1u << j;
    }
    return mask;
  }

  const View& view_;
  const Scan& scan_;
  const std::uint64_t begin_, end_;
};

/// Of lanes of a warp, which have an event each, those whose event no negation of the search keeps
/// from being found. `position_of(lane)` is the same for all who call: the lanes, together.
template <class Shape, class PositionOf>
__device__ inline unsigned without_violated(const View& view, const Search& search, unsigned lanes,
                                            PositionOf position_of) {
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    const unsigned lane = __ffs(rest) - 1;
    if (is_violated<Shape>(view, search, position_of(lane))) lanes &= ~(1u << lane);
  }
  return lanes;
}

struct PartRange {
  std::uint64_t first, last;
  __device__ PartRange(const Parts& parts, const Group& group, unsigned part)
      : first(group.base + part * parts.size),
        last(first + parts.size < group.end ? first + parts.size : group.end) {}
};

/// Whether all blocks of the group but this one are done; what they wrote to the device's memory is
/// seen. The whole block calls, once.
static __device__ inline bool is_last_of(const Group&, std::uint32_t* done) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(done, 1u) + 1 == gridDim.y;
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/// A position as a number that is the greater the more it is wanted, and not 0.
template <bool kNewest>
__device__ inline std::uint32_t rank_of(std::uint64_t offset) {
  const auto low = static_cast<std::uint32_t>(offset);
  return kNewest ? low + 1 : ~low;
}
template <bool kNewest>
__device__ inline std::uint32_t offset_of(std::uint32_t rank) {
  return kNewest ? rank - 1 : ~rank;
}

/// What searches for a single position have found so far: by search its rank, and by group how many
/// blocks are done. All zeros at the beginning.
struct Picked {
  std::uint32_t* ranks;
  std::uint32_t* done;
};

/// Searches for the newest or the oldest position alone. The parts that are wanted most come first;
/// a search whose position is found asks no tile behind it.
template <class Shape, bool kNewest>
__global__ void pick(const __grid_constant__ View view, const Search* searches,
                     const Group* groups, Parts parts, Picked picked, std::uint32_t* found,
                     std::uint32_t* selected) {
  __shared__ Grouped<Shape> grouped;
  __shared__ std::uint32_t best[kMostGrouped];
  const Group group = groups[blockIdx.x];
  std::uint32_t* const ranks = picked.ranks + group.first;
  const PartRange part(parts, group, kNewest ? parts.each - 1 - blockIdx.y : blockIdx.y);
  if (threadIdx.x < kMostGrouped) best[threadIdx.x] = 0;
  if (part.first < part.last) {
    grouped.load(view, searches, group);
    const Scan scan = view.scans[searches[group.first].scan];
    const auto columns = Shape::columns(view, scan);
    constexpr unsigned kSize = Tile<Shape>::kSize;
    const std::uint64_t tiles = (part.last - part.first + kSize - 1) / kSize;
    for (std::uint64_t t = 0; t < tiles; ++t) {
      const std::uint64_t begin = part.first + (kNewest ? tiles - 1 - t : t) * kSize;
      const Tile<Shape> tile(view, scan, begin, part.last);
      grouped.ask(group, begin, tile.end(), [&](unsigned i) {
        const std::uint32_t known = *static_cast<volatile std::uint32_t*>(ranks + i);
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
            if (threadIdx.x % kWarp == 0) known = __ldcg(ranks + i);
            if (__shfl_sync(kAllLanes, known, 0) >= greatest) return;
            const std::uint64_t at = grouped.first[i] + offset_of<kNewest>(greatest);
            if (is_violated<Shape>(view, searches[group.first + i], at)) {
              if (rank == greatest) mask &= ~(1u << j);
              continue;
            }
            if (threadIdx.x % kWarp == 0) atomicMax(ranks + i, greatest);
          }
          if (threadIdx.x % kWarp == 0) atomicMax(&best[i], greatest);
          return;
        }
      });
    }
    __syncthreads();
    if (threadIdx.x < group.count && best[threadIdx.x] != 0) {
      atomicMax(ranks + threadIdx.x, best[threadIdx.x]);
    }
  }
  if (!is_last_of(group, picked.done + blockIdx.x) || threadIdx.x >= group.count) return;
  const std::uint32_t row = group.first + threadIdx.x;
  const std::uint32_t rank = __ldcg(ranks + threadIdx.x);
  found[row] = rank == 0 ? 0 : 1;
  if (rank != 0) selected[searches[row].output] = offset_of<kNewest>(rank);
}

/// Searches for every position: matches as they come, unless they are more than `most`, and how
/// many there are, in all and by search. All zeros at the beginning.
struct Listed {
  std::uint32_t* counts;
  unsigned long long* total;
  std::uint32_t* done;
};

template <class Shape>
__global__ void list(const __grid_constant__ View view, const Search* searches,
                     const Group* groups, Parts parts, Listed listed, std::uint64_t most,
                     std::uint32_t* counts, Match* matches) {
  __shared__ Grouped<Shape> grouped;
  __shared__ unsigned passed[kMostGrouped];
  const Group group = groups[blockIdx.x];
  const PartRange part(parts, group, blockIdx.y);
  if (threadIdx.x < kMostGrouped) passed[threadIdx.x] = 0;
  if (part.first < part.last) {
    grouped.load(view, searches, group);
    const Scan scan = view.scans[searches[group.first].scan];
    const auto columns = Shape::columns(view, scan);
    for (std::uint64_t begin = part.first; begin < part.last; begin += Tile<Shape>::kSize) {
      const Tile<Shape> tile(view, scan, begin, part.last);
      grouped.ask(group, begin, tile.end(), [](unsigned) { return true; });
      tile.test(grouped, columns, [&](unsigned i, unsigned mask) {
        const unsigned lane = threadIdx.x % kWarp;
        if constexpr (Shape::Negations::kAny) {
#pragma unroll 1
          for (unsigned j = 0; j < Shape::kAtATime; ++j) {
            const unsigned all = __ballot_sync(kAllLanes, (mask >> j & 1u) != 0);
            const unsigned left = without_violated<Shape>(
                view, searches[group.first + i], all,
                [&](unsigned of) { return tile.position(j) - lane + of; });
            if ((left >> lane & 1u) == 0) mask &= ~(1u << j);
          }
        }
        if (!__any_sync(kAllLanes, mask != 0)) return;
        const unsigned total = __reduce_add_sync(kAllLanes, __popc(mask));
        unsigned long long at = 0;
        if (lane == 0) {
          atomicAdd(&passed[i], total);
          at = atomicAdd(listed.total, static_cast<unsigned long long>(total));
        }
        at = __shfl_sync(kAllLanes, at, 0);
#pragma unroll
        for (unsigned j = 0; j < Shape::kAtATime; ++j) {
          const bool mine = (mask >> j & 1u) != 0;
          const unsigned all = __ballot_sync(kAllLanes, mine);
          const unsigned long long to = at + __popc(all & ((1u << lane) - 1));
          if (mine && to < most) {
            const std::uint64_t offset = tile.position(j) - grouped.first[i];
            matches[to] = {group.first + i, static_cast<std::uint32_t>(offset)};
          }
          at += __popc(all);
        }
      });
    }
    __syncthreads();
    if (threadIdx.x < group.count && passed[threadIdx.x] != 0) {
      atomicAdd(listed.counts + group.first + threadIdx.x, passed[threadIdx.x]);
    }
  }
  if (!is_last_of(group, listed.done + blockIdx.x) || threadIdx.x >= group.count) return;
  const std::uint32_t row = group.first + threadIdx.x;
  counts[row] = __ldcg(listed.counts + row);
}

__device__ inline std::uint64_t sum_over_warp(std::uint64_t value) {
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    value += __shfl_down_sync(kAllLanes, value, step);
  }
  return value;
}
__device__ inline std::uint64_t greatest_of_warp(std::uint64_t value) {
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    const std::uint64_t other = __shfl_down_sync(kAllLanes, value, step);
    value = other > value ? other : value;
  }
  return value;
}

/// `merge` where others do the same.
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

/// Reductions over all positions. `done` and `reductions`, which are on the device, are zeros at the
/// beginning.
template <class Shape>
__global__ void reduce(const __grid_constant__ View view, const Search* searches,
                       const Group* groups, Parts parts, std::uint32_t* done,
                       Reduction* reductions, Reduction* reductions_on_host) {
  __shared__ Grouped<Shape> grouped;
  __shared__ Reduction own[kMostGrouped];
  const Group group = groups[blockIdx.x];
  const PartRange part(parts, group, blockIdx.y);
  if (part.first < part.last) {
    if (threadIdx.x < kMostGrouped) own[threadIdx.x] = {};
    grouped.load(view, searches, group);
    const Scan scan = view.scans[searches[group.first].scan];
    const auto columns = Shape::columns(view, scan);
    for (std::uint64_t begin = part.first; begin < part.last; begin += Tile<Shape>::kSize) {
      const Tile<Shape> tile(view, scan, begin, part.last);
      grouped.ask(group, begin, tile.end(), [](unsigned) { return true; });
      tile.test(grouped, columns, [&](unsigned i, unsigned mask) {
        if (!__any_sync(kAllLanes, mask != 0)) return;
        Reduction mine = {};
        for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
          merge(mine, reduction_of(view, scan, tile.position(__ffs(rest) - 1)));
        }
        mine.count = __reduce_add_sync(kAllLanes, static_cast<unsigned>(mine.count));
        if (scan.reduced != kNone) {
          mine.numbers = __reduce_add_sync(kAllLanes, static_cast<unsigned>(mine.numbers));
          mine.low = sum_over_warp(mine.low);
          mine.high = sum_over_warp(mine.high);
          mine.least = greatest_of_warp(mine.least);
          mine.greatest = greatest_of_warp(mine.greatest);
        }
        if (threadIdx.x % kWarp == 0) merge_among_others(own[i], mine);
      });
    }
    __syncthreads();
    if (threadIdx.x < group.count && own[threadIdx.x].count != 0) {
      merge_among_others(reductions[group.first + threadIdx.x], own[threadIdx.x]);
    }
  }
  if (!is_last_of(group, done + blockIdx.x) || threadIdx.x >= group.count) return;
  const std::uint32_t row = group.first + threadIdx.x;
  const auto* words = reinterpret_cast<const std::uint64_t*>(reductions + row);
  auto* to = reinterpret_cast<std::uint64_t*>(reductions_on_host + row);
  for (unsigned i = 0; i < sizeof(Reduction) / sizeof(std::uint64_t); ++i) to[i] = __ldcg(words + i);
}

__device__ inline Int128 sum_over_warp(Int128 value) {
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    const auto bits = static_cast<UInt128>(value);
    const std::uint64_t low = __shfl_down_sync(kAllLanes, static_cast<std::uint64_t>(bits), step);
    const std::uint64_t high =
        __shfl_down_sync(kAllLanes, static_cast<std::uint64_t>(bits >> 64), step);
    value += static_cast<Int128>(static_cast<UInt128>(high) << 64 | low);
  }
  return value;
}

/// `add` where others do the same.
__device__ inline void add_among_others(std::uint64_t& to, std::uint64_t number) {
  if (number != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&to), number);
}

/// Adds the floats of a warp's lanes, zeros for those that have none. Most floats that occur together
/// are of about the same magnitude: they are added up before a sum that others add to is touched.
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
      add_among_others(nan              ? to.nans
                       : word >> 63 != 0 ? to.negative_infinities
                                         : to.infinities,
                       1);
    } else if (magnitude.bit >= 32 * first) {
      sum += units_of(word, magnitude, first);
    } else {
      const std::uint32_t own = magnitude.bit / 32;
      add_to_limbs(own, units_of(word, magnitude, own), add);
    }
  }
  sum = sum_over_warp(sum);
  if (threadIdx.x % kWarp == 0) add_to_limbs(first, sum, add);
}

/// Exact sums of floats. `done` and `sums`, which are on the device, are zeros at the beginning.
template <class Shape>
__global__ void sum(const __grid_constant__ View view, const Search* searches, const Group* groups,
                    Parts parts, std::uint32_t* done, FloatSum* sums, FloatSum* sums_on_host) {
  __shared__ Grouped<Shape> grouped;
  __shared__ FloatSum own[kMostGrouped];
  constexpr unsigned kWords = sizeof(FloatSum) / sizeof(std::uint64_t);
  auto* const own_words = reinterpret_cast<std::uint64_t*>(own);
  const Group group = groups[blockIdx.x];
  auto* const words = reinterpret_cast<std::uint64_t*>(sums + group.first);
  const PartRange part(parts, group, blockIdx.y);
  if (part.first < part.last) {
    for (unsigned i = threadIdx.x; i < group.count * kWords; i += kThreads) own_words[i] = 0;
    grouped.load(view, searches, group);
    const Scan scan = view.scans[searches[group.first].scan];
    const Attribute summed = view.attributes[scan.attributes + scan.reduced];
    const auto columns = Shape::columns(view, scan);
    for (std::uint64_t begin = part.first; begin < part.last; begin += Tile<Shape>::kSize) {
      const Tile<Shape> tile(view, scan, begin, part.last);
      grouped.ask(group, begin, tile.end(), [](unsigned) { return true; });
      tile.test(grouped, columns, [&](unsigned i, unsigned mask) {
        if (!__any_sync(kAllLanes, mask != 0)) return;
        std::uint64_t values[Shape::kAtATime];
        unsigned count = 0;
#pragma unroll
        for (unsigned j = 0; j < Shape::kAtATime; ++j) {
          Cell value = {};
          if ((mask >> j & 1u) != 0) value = load(view, summed, tile.position(j));
          values[j] = value.bits;
          count += value.exists != 0 ? 1 : 0;
        }
        count = __reduce_add_sync(kAllLanes, count);
        if (threadIdx.x % kWarp == 0) add_among_others(own[i].count, count);
        add_floats(own[i], values);
      });
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < group.count * kWords; i += kThreads) {
      add_among_others(words[i], own_words[i]);
    }
  }
  if (!is_last_of(group, done + blockIdx.x)) return;
  auto* const to = reinterpret_cast<std::uint64_t*>(sums_on_host + group.first);
  for (unsigned i = threadIdx.x; i < group.count * kWords; i += kThreads) to[i] = __ldcg(words + i);
}

/// Searches for some of the newest or oldest positions: a block for each walks its range from the
/// end that is wanted and stops at the first tile that makes the selection complete.
template <class Shape, bool kNewest>
__global__ void select(const __grid_constant__ View view, const Search* searches,
                       const std::uint32_t* rows, std::uint32_t* found, std::uint32_t* selected) {
  __shared__ unsigned counts[2][kWarps];
  __shared__ typename Shape::Own own;
  const Search search = searches[rows[blockIdx.x]];
  const Scan scan = view.scans[search.scan];
  const auto columns = Shape::columns(view, scan);
  if (threadIdx.x == 0) own = Shape::own(view, search);
  const std::uint64_t size = search.last - search.first;
  const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  constexpr unsigned kAtATime = Shape::kAtATime;
  // Each warp has a run of positions, lane by lane.
  const auto nth = [&](unsigned j) { return (warp * kAtATime + j) * kWarp + lane; };
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
      if (passes) passes = decides<Shape>(view, scan, own, values[j]);
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
    unsigned to = taken;
    for (unsigned w = 0; w < kWarps; ++w) {
      if (w < warp) to += counts[parity][w];
      taken += counts[parity][w];
    }
#pragma unroll
    for (unsigned j = 0; j < kAtATime; ++j) {
      const unsigned rank = to + __popc(masks[j] & ((1u << lane) - 1));
      if ((masks[j] >> lane & 1u) != 0 && rank < search.limit) {
        selected[search.output + rank] = static_cast<std::uint32_t>(offset(begin + nth(j)));
      }
      to += __popc(masks[j]);
    }
    parity ^= 1u;
  }
  if (threadIdx.x == 0) found[rows[blockIdx.x]] = taken < search.limit ? taken : search.limit;
}

}  // namespace gorgo::cuda
