#pragma once

#include "cuda/search.hpp"

/// The kernels: how the positions of searches are spread over threads. What passes is decided in
/// search.hpp. Every kernel runs in blocks of kThreads.
namespace gorgo::cuda {

inline constexpr unsigned kWarp = 32;
inline constexpr unsigned kThreads = 256;
inline constexpr unsigned kWarps = kThreads / kWarp;
/// Positions that a thread tests before the block agrees on what passed.
inline constexpr unsigned kUnroll = 8;
inline constexpr unsigned kTile = kThreads * kUnroll;

/// Words to be written into the arena.
struct Run {
  std::uint64_t to;    ///< word of the arena
  std::uint64_t from;  ///< word of the delta
  std::uint64_t count;
};

__global__ void scatter(std::uint64_t* arena, const std::uint64_t* delta, const Run* runs) {
  const Run run = runs[blockIdx.x];
  for (std::uint64_t i = threadIdx.x; i < run.count; i += kThreads) {
    arena[run.to + i] = delta[run.from + i];
  }
}

/// Bounds of the first test, where there is one.
__device__ inline Bounds first_bounds(const View& view, const Search& search) {
  return view.scans[search.scan].tests > 0 ? view.bounds[search.bounds] : Bounds();
}

/// A search with what is read for every position kept in registers: its first test, and the page
/// that this thread is in.
class Filter {
 public:
  __device__ Filter(const View& view, const Search& search)
      : view_(view), search_(search), scan_(view.scans[search.scan]) {
    simple_ = scan_.tests <= 1 && scan_.instructions == 0;
    if (scan_.tests == 0) return;
    test_ = view.tests[scan_.first_test];
    attribute_ = view.attributes[scan_.attributes + test_.attribute];
    bounds_ = first_bounds(view, search);
    nullable_ = attribute_.present != kNone;
  }

  /// What the first test reads; apart from `passes`, so that several loads are under way at a time.
  __device__ std::uint64_t word(std::uint64_t position) {
    if (scan_.tests == 0) return 0;
    const std::uint64_t page = position >> view_.page_shift;
    if (page != page_) open(page);
    return words_[position];
  }

  __device__ bool passes(std::uint64_t word, std::uint64_t position) const {
    return first_passes(bounds_, word) && rest_passes(search_, position);
  }

  /// The same in two, for any search of the scan.
  __device__ bool first_passes(const Bounds& bounds, std::uint64_t word) const {
    return scan_.tests == 0 || cuda::passes(test_, bounds, word);
  }
  __device__ bool rest_passes(const Search& search, std::uint64_t position) const {
    if (nullable_ && !load(view_, attribute_, position).exists) return false;
    return simple_ || cuda::passes(view_, scan_, search, position, 1);
  }

  /// Calls `f(position)` for the passing ones of [first, last) that are this thread's.
  template <class F>
  __device__ void for_each(std::uint64_t first, std::uint64_t last, F f) {
    const std::uint64_t page_size = std::uint64_t{1} << view_.page_shift;
    while (first < last) {
      const std::uint64_t next_page = (first & ~(page_size - 1)) + page_size;
      const std::uint64_t end = next_page < last ? next_page : last;
      if (scan_.tests > 0) open(first >> view_.page_shift);
      const bool reads = scan_.tests > 0;
#pragma unroll 8
      for (std::uint64_t p = first + threadIdx.x; p < end; p += kThreads) {
        if (passes(reads ? words_[p] : 0, p)) f(p);
      }
      first = end;
    }
  }

  __device__ const Scan& scan() const { return scan_; }

 private:
  __device__ void open(std::uint64_t page) {
    page_ = page;
    const std::uint64_t number = view_.pages[attribute_.pages + (page - attribute_.first_page)];
    // So that the position itself is the index.
    words_ = view_.arena + (number << view_.page_shift) - (page << view_.page_shift);
  }

  const View& view_;
  const Search& search_;
  Scan scan_;
  Test test_;
  Attribute attribute_;
  Bounds bounds_;
  bool simple_ = false, nullable_ = false;
  std::uint64_t page_ = ~std::uint64_t{0};
  const std::uint64_t* words_ = nullptr;
};

/// The passing ones among a tile's positions, in order: each warp has a run of them, lane by lane.
class TileMask {
 public:
  /// Of the positions `position(i)` for i < size; the whole block calls. `counts` is shared: kWarps
  /// numbers.
  template <class Position>
  __device__ TileMask(std::uint64_t size, unsigned* counts, Filter& filter, Position position) {
    std::uint64_t words[kUnroll];
#pragma unroll
    for (unsigned j = 0; j < kUnroll; ++j) {
      const unsigned i = offset(j);
      words[j] = i < size ? filter.word(position(i)) : 0;
    }
    unsigned mine = 0;
#pragma unroll
    for (unsigned j = 0; j < kUnroll; ++j) {
      const unsigned i = offset(j);
      masks_[j] = __ballot_sync(~0u, i < size && filter.passes(words[j], position(i)));
      mine += __popc(masks_[j]);
    }
    const unsigned warp = threadIdx.x / kWarp;
    if (threadIdx.x % kWarp == 0) counts[warp] = mine;
    __syncthreads();
    for (unsigned w = 0; w < kWarps; ++w) {
      if (w < warp) before_ += counts[w];
      total_ += counts[w];
    }
  }

  __device__ unsigned total() const { return total_; }

  /// Calls `f(rank, i)` for the passing positions of this thread.
  template <class F>
  __device__ void for_each(F f) const {
    const unsigned lane = threadIdx.x % kWarp;
    unsigned before = before_;
#pragma unroll
    for (unsigned j = 0; j < kUnroll; ++j) {
      const unsigned lower = masks_[j] & ((1u << lane) - 1);
      if (masks_[j] >> lane & 1u) f(before + __popc(lower), offset(j));
      before += __popc(masks_[j]);
    }
  }

 private:
  __device__ static unsigned offset(unsigned j) {
    const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
    return warp * kWarp * kUnroll + j * kWarp + lane;
  }

  unsigned masks_[kUnroll];
  unsigned before_ = 0, total_ = 0;
};

/// Single selection: a block for each search walks its range from the end that is wanted and stops
/// at the first tile that makes the selection complete.
template <bool kNewest>
__global__ void select(const __grid_constant__ View view, const Search* searches, std::uint32_t* found,
                       std::uint32_t* selected) {
  __shared__ unsigned counts[2][kWarps];
  const Search search = searches[blockIdx.x];
  Filter filter(view, search);
  const std::uint64_t size = search.last - search.first;
  const auto offset_of = [&](std::uint64_t i) { return kNewest ? size - 1 - i : i; };
  std::uint32_t taken = 0;
  unsigned parity = 0;
  for (std::uint64_t begin = 0; begin < size && taken < search.limit; begin += kTile) {
    const TileMask mask(size - begin, counts[parity], filter,
                        [&](unsigned i) { return search.first + offset_of(begin + i); });
    mask.for_each([&](unsigned rank, unsigned i) {
      if (taken + rank >= search.limit) return;
      selected[search.output + taken + rank] = static_cast<std::uint32_t>(offset_of(begin + i));
    });
    taken += mask.total();
    parity ^= 1u;
  }
  if (threadIdx.x == 0) found[blockIdx.x] = taken < search.limit ? taken : search.limit;
}

/// How the ranges of searches are cut: block (x, y) has the part x of search or group y.
struct Parts {
  std::uint64_t size;  ///< positions, a multiple of kTile
  std::uint32_t each;  ///< of a search at most
};

struct PartRange {
  std::uint64_t first, last;
  __device__ bool empty() const { return first >= last; }
};

/// The part of [from, to), counted from `base`.
__device__ inline PartRange part_of(const Parts& parts, std::uint64_t base, std::uint64_t from,
                                    std::uint64_t to) {
  const std::uint64_t first = base + blockIdx.x * parts.size;
  const std::uint64_t last = first + parts.size;
  return {first > from ? first : from, last < to ? last : to};
}

/// Searches that stand side by side, with one scan and about the same range: a block has the events
/// of its part in registers and goes through the searches.
struct Group {
  std::uint64_t base, end;  ///< positions of all of them
  std::uint32_t first, count;
};
inline constexpr unsigned kMostGrouped = 32;

/// How many positions of each part pass, for every search of each group.
__global__ void count(const __grid_constant__ View view, const Search* searches,
                      const Group* groups, Parts parts, std::uint32_t* counts) {
  __shared__ Search shared[kMostGrouped];
  __shared__ Bounds bounds[kMostGrouped];
  __shared__ unsigned passed[kMostGrouped];
  const Group group = groups[blockIdx.y];
  if (threadIdx.x < group.count) {
    shared[threadIdx.x] = searches[group.first + threadIdx.x];
    bounds[threadIdx.x] = first_bounds(view, shared[threadIdx.x]);
    passed[threadIdx.x] = 0;
  }
  __syncthreads();
  const PartRange part = part_of(parts, group.base, group.base, group.end);
  Filter filter(view, shared[0]);
  for (std::uint64_t begin = part.first; begin < part.last; begin += kTile) {
    std::uint64_t words[kUnroll];
    const std::uint64_t mine = begin + threadIdx.x;
#pragma unroll
    for (unsigned j = 0; j < kUnroll; ++j) {
      const std::uint64_t p = mine + j * kThreads;
      words[j] = p < part.last ? filter.word(p) : 0;
    }
    for (unsigned s = 0; s < group.count; ++s) {
      const Search& search = shared[s];
      const Bounds own = bounds[s];
      unsigned found = 0;
#pragma unroll
      for (unsigned j = 0; j < kUnroll; ++j) {
        const std::uint64_t p = mine + j * kThreads;
        if (!filter.first_passes(own, words[j]) || p < search.first || p >= search.last) continue;
        found += p < part.last && filter.rest_passes(search, p) ? 1 : 0;
      }
      found = __reduce_add_sync(~0u, found);
      if (threadIdx.x % kWarp == 0 && found > 0) atomicAdd(&passed[s], found);
    }
  }
  __syncthreads();
  if (threadIdx.x >= group.count) return;
  const std::uint64_t row = group.first + threadIdx.x;
  counts[row * parts.each + blockIdx.x] = passed[threadIdx.x];
}

/// The exclusive sum of a value for each thread of the block, and the sum of all in `total`.
__device__ inline std::uint64_t exclusive_sum(std::uint64_t value, std::uint64_t& total) {
  __shared__ std::uint64_t sums[kWarps];
  const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  std::uint64_t inclusive = value;
  for (unsigned step = 1; step < kWarp; step *= 2) {
    const std::uint64_t other = __shfl_up_sync(~0u, inclusive, step);
    if (lane >= step) inclusive += other;
  }
  if (lane == kWarp - 1) sums[warp] = inclusive;
  __syncthreads();
  std::uint64_t before = 0;
  total = 0;
  for (unsigned w = 0; w < kWarps; ++w) {
    if (w < warp) before += sums[w];
    total += sums[w];
  }
  __syncthreads();
  return before + inclusive - value;
}

/// Turns the counts of each search's parts into where they begin in its list; a block for each
/// search. parts.each <= kThreads.
__global__ void begin_parts(Parts parts, std::uint32_t* counts, std::uint64_t* totals) {
  std::uint32_t* const own = counts + std::uint64_t{blockIdx.x} * parts.each;
  const std::uint64_t mine = threadIdx.x < parts.each ? own[threadIdx.x] : 0;
  std::uint64_t total = 0;
  const std::uint64_t before = exclusive_sum(mine, total);
  // The lowest bit tells `fill` whether there is anything.
  if (threadIdx.x < parts.each) {
    own[threadIdx.x] = static_cast<std::uint32_t>(before << 1 | (mine > 0 ? 1 : 0));
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

/// begins[i]: where the list of search i begins; one block.
__global__ void begin_lists(const std::uint64_t* totals, std::uint32_t searches,
                            std::uint64_t* begins, std::uint64_t* begins_on_host) {
  std::uint64_t before = 0;
  for (std::uint32_t first = 0; first < searches; first += kThreads) {
    const std::uint32_t i = first + threadIdx.x;
    std::uint64_t total = 0;
    const std::uint64_t begin =
        before + exclusive_sum(i < searches ? totals[i] : 0, total);
    if (i < searches) begins[i] = begins_on_host[i] = begin;
    before += total;
  }
  if (threadIdx.x == 0) begins[searches] = begins_on_host[searches] = before;
}

/// Writes the lists, unless they are too long together; visits only the parts that have something.
__global__ void fill(const __grid_constant__ View view, const Search* searches,
                     const std::uint64_t* bases, Parts parts, const std::uint32_t* counts,
                     const std::uint64_t* begins, std::uint32_t count_of_searches,
                     std::uint64_t most, std::uint32_t* listed) {
  __shared__ unsigned warps[2][kWarps];
  const std::uint32_t place = counts[std::uint64_t{blockIdx.y} * parts.each + blockIdx.x];
  if ((place & 1u) == 0 || begins[count_of_searches] > most) return;
  const Search search = searches[blockIdx.y];
  const PartRange part = part_of(parts, bases[blockIdx.y], search.first, search.last);
  Filter filter(view, search);
  std::uint64_t to = begins[blockIdx.y] + (place >> 1);
  unsigned parity = 0;
  for (std::uint64_t begin = part.first; begin < part.last; begin += kTile) {
    const TileMask mask(part.last - begin, warps[parity], filter,
                        [&](unsigned i) { return begin + i; });
    mask.for_each([&](unsigned rank, unsigned i) {
      listed[to + rank] = static_cast<std::uint32_t>(begin + i - search.first);
    });
    to += mask.total();
    parity ^= 1u;
  }
}

__device__ inline Reduction shuffle_down(const Reduction& r, unsigned step) {
  return {.count = __shfl_down_sync(~0u, r.count, step),
          .numbers = __shfl_down_sync(~0u, r.numbers, step),
          .sum_low = __shfl_down_sync(~0u, r.sum_low, step),
          .sum_high = __shfl_down_sync(~0u, r.sum_high, step),
          .least = __shfl_down_sync(~0u, r.least, step),
          .greatest = __shfl_down_sync(~0u, r.greatest, step)};
}

/// A reduction of each part; the host merges those of a search.
__global__ void reduce(const __grid_constant__ View view, const Search* searches, Parts parts, Reduction* reductions) {
  __shared__ Reduction warps[kWarps];
  const Search search = searches[blockIdx.y];
  const PartRange part = part_of(parts, search.first, search.first, search.last);
  Reduction mine;
  bool floats = false;
  if (!part.empty()) {
    Filter filter(view, search);
    const Scan& scan = filter.scan();
    floats = scan.reduced_floats;
    filter.for_each(part.first, part.last, [&](std::uint64_t position) {
      merge(mine, floats, reduction_of(view, scan, position));
    });
  }
  Reduction* const to = reductions + std::uint64_t{blockIdx.y} * parts.each + blockIdx.x;
  if (!__syncthreads_or(mine.count > 0)) {
    if (threadIdx.x == 0) *to = {};
    return;
  }
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    merge(mine, floats, shuffle_down(mine, step));
  }
  if (threadIdx.x % kWarp == 0) warps[threadIdx.x / kWarp] = mine;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned w = 1; w < kWarps; ++w) merge(mine, floats, warps[w]);
  *to = mine;
}

}  // namespace gorgo::cuda
