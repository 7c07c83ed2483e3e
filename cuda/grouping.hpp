#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda/layout.hpp"

namespace gorgo::gpu {

/// How a kernel is told of the searches of a kind: in groups, or, if a group cannot hold them, one
/// by one. Both are sorted by shape.
class Grouping {
 public:
  /// Groups or rows that have the same shape.
  struct Section {
    std::uint32_t shape = 0;
    std::uint32_t first = 0, count = 0;
    std::uint64_t longest = 0;  ///< positions of a group
  };

  /// `alone(search)` says whether a search is in no group. Groups are as large as they can be while
  /// there are enough of them for all of a device. They are small where negations are tested,
  /// because that takes a warp longer than all else.
  template <class Alone>
  void assign(std::span<const Search> searches, std::span<const Scan> scans, Alone alone) {
    clear();
    const std::uint32_t most = most_grouped(searches);
    for (std::uint32_t i = 0; i < searches.size(); ++i) {
      if (alone(searches[i])) {
        rows_.push_back(i);
      } else {
        const bool is_small = scans[searches[i].scan].negations > 0;
        add(searches, i, is_small ? std::min(most, kMostWithNegations) : most);
      }
    }
    sort(searches, scans);
  }

  std::span<const Group> groups() const { return groups_; }
  std::span<const Section> group_sections() const { return group_sections_; }
  /// Numbers of the searches that are alone.
  std::span<const std::uint32_t> rows() const { return rows_; }
  std::span<const Section> row_sections() const { return row_sections_; }

 private:
  static constexpr std::uint32_t kMostWithNegations = 4;

  void clear();
  static std::uint32_t most_grouped(std::span<const Search> searches);
  void add(std::span<const Search> searches, std::uint32_t search, std::uint32_t most);
  void sort(std::span<const Search> searches, std::span<const Scan> scans);

  std::vector<Group> groups_;
  std::vector<Section> group_sections_;
  std::vector<std::uint32_t> rows_;
  std::vector<Section> row_sections_;
};

}  // namespace gorgo::gpu
