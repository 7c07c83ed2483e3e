#include "cuda/staged_round.hpp"

#include <algorithm>

namespace gorgo::gpu {

Chunks chunks_of(const Grouping::Section& section) {
  constexpr std::uint64_t kBlocks = 8192, kFewBlocks = 128;
  const auto pieces = [&](std::uint64_t size) { return (section.longest + size - 1) / size; };
  const bool few = pieces(kTile) * section.count < kFewBlocks;
  const std::uint64_t unit = few ? kTile / 2 : kTile;
  const std::uint64_t wanted = std::clamp<std::uint64_t>(kBlocks / section.count, 1, pieces(unit));
  const std::uint64_t size = (pieces(unit) + wanted - 1) / wanted * unit;
  return {.size = size,
          .per_group = static_cast<std::uint32_t>((section.longest + size - 1) / size)};
}

std::uint64_t StagedKind::blocks() const {
  std::uint64_t sum = 0;
  for (const auto& section : grouping.group_sections()) {
    sum += section.count * std::uint64_t{chunks_of(section).per_group};
  }
  for (const auto& section : grouping.row_sections()) sum += section.count;
  return sum;
}

void StagedRound::stage(const Round& round, Upload& upload) {
  upload.begin();
  pages_ = upload.add(round.pages);
  attributes_ = upload.add(round.attributes);
  tests_ = upload.add(round.tests);
  instructions_ = upload.add(round.instructions);
  scans_ = upload.add(round.scans);
  bounds_ = upload.add(round.bounds);
  cells_ = upload.add(round.cells);
  texts_ = upload.add(round.texts);
  negations_ = upload.add(round.negations);
  const auto several = [](const Search& search) { return search.limit > 1; };
  const auto never = [](const Search&) { return false; };
  oldest.stage<std::uint32_t>(round.oldest, round, upload, several);
  newest.stage<std::uint32_t>(round.newest, round, upload, several);
  every.stage<std::uint32_t>(round.every, round, upload, never);
  reductions.stage<Reduction>(round.reductions, round, upload, never);
  sums.stage<FloatSum>(round.sums, round, upload, never);
}

bool StagedRound::may_be_fused(std::size_t written) const {
  constexpr std::uint64_t kMostWritten = 1 << 14;
  std::uint64_t blocks = 0;
  for (const StagedKind* kind : {&oldest, &newest, &every, &reductions, &sums}) {
    if (!kind->has_single_launches()) return false;
    blocks += kind->blocks();
  }
  return blocks * written <= kMostWritten;
}

View StagedRound::view(const Upload& upload, const std::uint64_t* arena,
                       std::uint32_t page_shift) const {
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
          .negations = upload.array<NegationSearch>(negations_)};
}

}  // namespace gorgo::gpu
