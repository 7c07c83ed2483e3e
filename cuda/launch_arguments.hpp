#pragma once

#include "base/number.hpp"
#include "cuda/layout.hpp"

/// The arguments of the kernels, by value. Each `relocate(relocation)` calls `relocation(pointer)`
/// for every pointer into the round that the launch reads.
namespace gorgo::gpu {

/// Threads of a block, for every kernel that searches.
inline constexpr unsigned kThreads = 256;
/// Positions of a tile at most: a multiple of what a block has in registers at a time, whatever the
/// shape.
inline constexpr unsigned kTile = kThreads * 16;

/// How the ranges of groups are cut into chunks, each of which a block searches.
struct Chunks {
  std::uint64_t size;       ///< positions, a multiple of kTile / 2
  std::uint32_t per_group;  ///< how many a group has
};

/// For the newest or the oldest position alone. `ranks`, which is what was found so far by search,
/// and `done` are all zeros at the beginning.
struct SelectOneArguments {
  const Search* searches;
  const Group* groups;
  Chunks chunks;
  std::uint32_t *ranks, *done;
  std::uint32_t *found, *selected;  ///< of the host

  template <class Relocation>
  GORGO_HD void relocate(const Relocation& relocation) {
    relocation(searches);
    relocation(groups);
  }
};

/// For some of the newest or oldest positions.
struct SelectSeveralArguments {
  const Search* searches;
  const std::uint32_t* rows;        ///< by block: which search
  std::uint32_t *found, *selected;  ///< of the host

  template <class Relocation>
  GORGO_HD void relocate(const Relocation& relocation) {
    relocation(searches);
    relocation(rows);
  }
};

/// For every position. `total`, `counts`, which is by search, and `done` are all zeros at the
/// beginning.
struct SelectAllArguments {
  const Search* searches;
  const Group* groups;
  Chunks chunks;
  unsigned long long* total;
  std::uint32_t *counts, *done;
  std::uint64_t most;
  std::uint32_t* counts_on_host;
  Match* matches;  ///< of the host, as they are found, unless there are more than `most`

  template <class Relocation>
  GORGO_HD void relocate(const Relocation& relocation) {
    relocation(searches);
    relocation(groups);
  }
};

/// For reductions and sums. `done` and `totals` are all zeros at the beginning.
template <class Total>
struct ReduceArguments {
  const Search* searches;
  const Group* groups;
  Chunks chunks;
  std::uint32_t* done;
  Total *totals, *totals_on_host;

  template <class Relocation>
  GORGO_HD void relocate(const Relocation& relocation) {
    relocation(searches);
    relocation(groups);
  }
};

}  // namespace gorgo::gpu
