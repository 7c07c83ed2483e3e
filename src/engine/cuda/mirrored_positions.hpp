#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "history/range.hpp"
#include "history/timeline.hpp"

namespace gorgo::engine {

/// Pages of a column, by position / page size: [first, last).
struct PageRange {
  std::uint64_t first = 0, last = 0;

  std::uint64_t size() const { return last - first; }
  bool contains(std::uint64_t page) const { return page >= first && page < last; }
};

/// The positions of a timeline that a mirror covers, which event stands at each, and the pages in
/// which they lie.
class MirroredPositions {
 public:
  explicit MirroredPositions(std::uint32_t page_shift) : shift_(page_shift) {}

  bool empty() const { return slots_.empty(); }
  std::size_t size() const { return slots_.size(); }
  std::uint64_t first() const { return first_; }
  /// The position behind the last one.
  std::uint64_t end() const { return first_ + slots_.size(); }

  std::uint64_t page_of(std::uint64_t position) const { return position >> shift_; }
  std::uint64_t first_page() const { return page_of(first_); }
  /// How many pages hold mirrored positions.
  std::size_t page_count() const { return empty() ? 0 : page_of(end() - 1) - first_page() + 1; }
  std::uint64_t begin_of(std::uint64_t page) const { return page << shift_; }
  /// Where the mirrored positions of a page end.
  std::uint64_t end_of(std::uint64_t page) const { return std::min(end(), (page + 1) << shift_); }
  bool is_full(std::uint64_t page) const { return (page + 1) << shift_ <= end(); }
  /// Pages before this one are full.
  std::uint64_t full_until() const { return page_of(end()); }
  PageRange pages_of(const history::Range& positions) const {
    const std::uint64_t first = page_of(positions.first);
    return {first, positions.empty() ? first : page_of(positions.last - 1) + 1};
  }

  /// The first position at which another event stands in the timeline; `end()` if there is none.
  std::uint64_t first_difference(const history::Timeline& timeline) const;

  /// Precondition: empty.
  void begin_at(std::uint64_t position) { first_ = position; }
  void drop_before(std::uint64_t position);
  void drop_from(std::uint64_t position) { slots_.resize(position - first_); }
  /// Covers what the timeline has behind `end()`.
  void append_from(const history::Timeline& timeline);

 private:
  const std::uint32_t shift_;  // log2 of the positions of a page
  std::uint64_t first_ = 0;
  std::deque<history::Slot> slots_;  // by position, from first_ on
};

}  // namespace gorgo::engine
