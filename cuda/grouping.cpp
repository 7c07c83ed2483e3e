#include "cuda/grouping.hpp"

#include <algorithm>

namespace gorgo::gpu {
namespace {

/// About how many positions a block tests at a time.
constexpr std::uint64_t kTilePositions = 2048;
/// How many blocks keep a large device busy.
constexpr std::uint64_t kEnoughBlocks = 512;

/// Sorts items by shape and says where those of each begin.
template <class Item, class ShapeOfItem>
void sort_into(std::vector<Grouping::Section>& sections, std::vector<Item>& items,
               ShapeOfItem shape_of) {
  std::stable_sort(items.begin(), items.end(),
                   [&](const Item& a, const Item& b) { return shape_of(a) < shape_of(b); });
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    const std::uint32_t shape = shape_of(items[i]);
    if (sections.empty() || sections.back().shape != shape) {
      sections.push_back({.shape = shape, .first = i, .count = 0, .longest = 0});
    }
    ++sections.back().count;
  }
}

}  // namespace

void Grouping::clear() {
  groups_.clear();
  group_sections_.clear();
  rows_.clear();
  row_sections_.clear();
}

std::uint32_t Grouping::most_grouped(std::span<const Search> searches) {
  std::uint64_t tiles = 0;
  for (const Search& search : searches) tiles += (search.last - search.first) / kTilePositions + 1;
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(tiles / kEnoughBlocks, 1, kMostGrouped));
}

void Grouping::add(std::span<const Search> searches, std::uint32_t number, std::uint32_t most) {
  const Search& search = searches[number];
  const bool joins = !groups_.empty() && groups_.back().count < most &&
                     groups_.back().first + groups_.back().count == number &&
                     searches[groups_.back().first].scan == search.scan;
  if (!joins) {
    groups_.push_back({.base = search.first, .end = search.last, .first = number, .count = 0});
  }
  Group& group = groups_.back();
  group.base = std::min(group.base, search.first);
  group.end = std::max(group.end, search.last);
  ++group.count;
}

void Grouping::sort(std::span<const Search> searches, std::span<const Scan> scans) {
  sort_into(group_sections_, groups_,
            [&](const Group& group) { return scans[searches[group.first].scan].shape; });
  for (Section& section : group_sections_) {
    for (const Group& group : std::span(groups_).subspan(section.first, section.count)) {
      section.longest = std::max(section.longest, group.end - group.base);
    }
  }
  sort_into(row_sections_, rows_,
            [&](std::uint32_t row) { return scans[searches[row].scan].shape; });
}

}  // namespace gorgo::gpu
