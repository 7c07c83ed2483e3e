#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device.hpp"
#include "cuda/grouping.hpp"
#include "cuda/launch_arguments.hpp"
#include "cuda/upload.hpp"

namespace gorgo::gpu {

/// Cuts groups into enough chunks to keep the device busy together with other groups. They are of
/// whole tiles unless those are too few for that.
Chunks chunks_of(const Grouping::Section& section);

/// Searches of a kind: how they are grouped, and where what their kernels need stands in the
/// upload.
struct StagedKind {
  /// What a fused launch leaves as zeros; the first counts the groups that are done.
  struct Zeros {
    std::size_t first = 0, last = 0;
  };

  Grouping grouping;
  std::size_t count = 0;
  std::size_t searches = 0, groups = 0, rows = 0;
  Zeros grouped, alone;
  std::size_t done = 0, total = 0, partial = 0;  ///< among those of `grouped`

  /// `Partial`: what the kernels put together by search. `is_alone`: as for `Grouping::assign`.
  template <class Partial, class Alone>
  void stage(const std::vector<Search>& of, const Round& round, Upload& upload, Alone is_alone) {
    grouping.assign(of, round.scans, is_alone);
    count = of.size();
    searches = upload.add(of);
    groups = upload.add(grouping.groups());
    rows = upload.add(grouping.rows());
    alone.first = upload.add_zeros<std::uint32_t>(1);
    grouped.first = alone.last = upload.add_zeros<std::uint32_t>(1);
    done = upload.add_zeros<std::uint32_t>(grouping.groups().size());
    total = upload.add_zeros<std::uint64_t>(1);
    partial = upload.add_zeros<Partial>(of.size());
    grouped.last = upload.add_zeros<std::uint64_t>(0);
  }

  /// Whether no two launches would leave the same zeros.
  bool has_single_launches() const {
    return grouping.group_sections().size() <= 1 && grouping.row_sections().size() <= 1;
  }
  /// Blocks of its launches.
  std::uint64_t blocks() const;
};

/// Where a round stands in the upload.
class StagedRound {
 public:
  void stage(const Round& round, Upload& upload);

  /// Whether its launches may be fused when each of their blocks writes so many words.
  bool may_be_fused(std::size_t written) const;

  View view(const Upload& upload, const std::uint64_t* arena, std::uint32_t page_shift) const;

  StagedKind oldest, newest, every, reductions, sums;

 private:
  std::size_t pages_ = 0, attributes_ = 0, tests_ = 0, instructions_ = 0, scans_ = 0;
  std::size_t bounds_ = 0, cells_ = 0, texts_ = 0, negations_ = 0;
};

}  // namespace gorgo::gpu
