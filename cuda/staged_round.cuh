#pragma once

#include "cuda/device.hpp"
#include "cuda/grouping.hpp"
#include "cuda/upload.cuh"

namespace gorgo::gpu {

/// Cuts groups into enough parts to keep the device busy together with other groups. They are of
/// whole tiles unless those are too few for that.
inline Parts parts_of(const Grouping::Section& section) {
  constexpr std::uint64_t kBlocks = 8192, kFewBlocks = 128;
  const auto pieces = [&](std::uint64_t size) { return (section.longest + size - 1) / size; };
  const bool few = pieces(kTile) * section.count < kFewBlocks;
  const std::uint64_t unit = few ? kTile / 2 : kTile;
  const std::uint64_t wanted = std::clamp<std::uint64_t>(kBlocks / section.count, 1, pieces(unit));
  const std::uint64_t size = (pieces(unit) + wanted - 1) / wanted * unit;
  return {.size = size, .each = static_cast<std::uint32_t>((section.longest + size - 1) / size)};
}

/// Searches of a kind: how they are grouped, and where what their kernels need stands in the
/// upload.
struct StagedKind {
  /// What a launch that has the round along leaves as zeros; the first counts the groups that are
  /// done.
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
  std::uint64_t blocks() const {
    std::uint64_t sum = 0;
    for (const auto& section : grouping.group_sections()) {
      sum += section.count * std::uint64_t{parts_of(section).each};
    }
    for (const auto& section : grouping.row_sections()) sum += section.count;
    return sum;
  }
};

/// Where a round stands in the upload.
class StagedRound {
 public:
  void stage(const Round& round, Upload& upload) {
    upload.begin();
    pages_ = upload.add(round.pages);
    attributes_ = upload.add(round.attributes);
    tests_ = upload.add(round.tests);
    instructions_ = upload.add(round.instructions);
    scans_ = upload.add(round.scans);
    bounds_ = upload.add(round.bounds);
    cells_ = upload.add(round.cells);
    texts_ = upload.add(round.texts);
    unless_ = upload.add(round.unless);
    const auto several = [](const Search& search) { return search.limit > 1; };
    const auto never = [](const Search&) { return false; };
    oldest.stage<std::uint32_t>(round.oldest, round, upload, several);
    newest.stage<std::uint32_t>(round.newest, round, upload, several);
    every.stage<std::uint32_t>(round.every, round, upload, never);
    reductions.stage<Reduction>(round.reductions, round, upload, never);
    sums.stage<FloatSum>(round.sums, round, upload, never);
  }

  /// Whether its launches may have it along when each of their blocks writes so many words.
  bool fits_along(std::size_t written) const {
    constexpr std::uint64_t kMostWritten = 1 << 14;
    std::uint64_t blocks = 0;
    for (const StagedKind* kind : {&oldest, &newest, &every, &reductions, &sums}) {
      if (!kind->has_single_launches()) return false;
      blocks += kind->blocks();
    }
    return blocks * written <= kMostWritten;
  }

  View view(const Upload& upload, const std::uint64_t* arena, std::uint32_t page_shift) const {
    return {.arena = arena,
            .page_shift = page_shift,
            .pages = upload.array<std::uint32_t>(pages_),
            .attributes = upload.array<Attribute>(attributes_),
            .tests = upload.array<Test>(tests_),
            .instructions = upload.array<Instruction>(instructions_),
            .scans = upload.array<Scan>(scans_),
            .bounds = upload.array<Bounds>(bounds_),
            .cells = upload.array<Cell>(cells_),
            .texts = upload.array<std::uint64_t>(texts_),
            .unless = upload.array<Unless>(unless_)};
  }

  StagedKind oldest, newest, every, reductions, sums;

 private:
  std::size_t pages_ = 0, attributes_ = 0, tests_ = 0, instructions_ = 0, scans_ = 0;
  std::size_t bounds_ = 0, cells_ = 0, texts_ = 0, unless_ = 0;
};

}  // namespace gorgo::gpu
