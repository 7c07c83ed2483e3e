#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/column/block_condition.hpp"
#include "engine/column/implied_bounds.hpp"
#include "engine/column/scan_group.hpp"
#include "engine/column/search.hpp"
#include "history/range_index.hpp"
#include "history/timeline.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {

/// How much of what a search finds its caller will look at.
enum class Selectivity : std::uint8_t { all, until_found };

/// Finds the events of one predicate in one window of its column: by value where a range index
/// shows that few events can match, else it tests blocks of events at a time, and what remains
/// event by event. Searches that were announced test a block one after the other. Has one search in
/// hand at a time.
class Scanner {
 public:
  /// `scan` and `store` must outlive the scanner. `ranges` may be null.
  Scanner(const plan::Scan& scan, const history::EventStore& store,
          std::shared_ptr<const history::Timeline> timeline,
          std::shared_ptr<const history::RangeIndex> ranges, Selectivity worth);

  const std::shared_ptr<const history::Timeline>& timeline() const { return timeline_; }
  const std::shared_ptr<const history::RangeIndex>& ranges() const { return ranges_; }
  history::EventRef event(std::uint64_t position) const {
    return {&store_, gathered_ ? found_[position] : timeline_->slot(position)};
  }

  /// Whether every event of the range matches that stands before the terminator.
  bool is_exact() const { return gathered_; }
  /// Time alone tells which events of the range before this position stand before the terminator,
  /// or it is known of them.
  std::uint64_t ordered_end(history::Range range) const {
    if (gathered_ || search_.in_order()) return range.last;
    return range.clamp(
        timeline_->window(search_.interval.after, search_.ordered_before, window_).last);
  }

  /// Whether `announce` may spare something. Where a range index serves searches, the last one says
  /// whether the next ones are likely to scan.
  bool wants_announcements() const;
  /// A hint: `start` is going to be called for these searches of different terminators, perhaps not
  /// for all, in this order. They must stay until the next announcement.
  void announce(std::span<const Search> searches) { group_.announce(searches); }

  /// The range that holds the matches; empty when nothing can match.
  history::Range start(const Search& search);

  /// Calls `f(position)` for the matching positions of the range in ascending (or descending)
  /// order until it returns false. Returns whether it ran to the end.
  template <class F>
  bool ascending(history::Range range, F&& f);
  template <class F>
  bool descending(history::Range range, F&& f);

  /// Whether `each_block` shows all that matches and stands before the terminator, before
  /// `ordered_end`.
  bool is_by_blocks() const { return !gathered_ && event_tests_.empty() && residual_.empty(); }
  /// Calls `f(first, count, mask)` for blocks of the range, in ascending order: bit i says whether
  /// the event at `first + i` matches.
  template <class F>
  void each_block(history::Range range, F&& f);

 private:
  history::Range start_in_group(std::size_t member);
  bool bind(const history::Scope& scope);
  /// How many events are scanned while one is gathered: the more there is to calculate, the fewer.
  std::uint64_t scans_in_the_time_of_one() const {
    constexpr std::uint64_t kOperations = 128, kLeast = 8;
    return std::max(kLeast, kOperations / std::max<std::uint64_t>(2, operations_));
  }
  bool gather(history::Range range, const history::Scope& scope);
  void sift_found(const history::Scope& scope);
  bool is_match(history::Slot slot) const;
  bool passes(std::uint32_t comparison, const history::Scope& scope) const;

  /// Which positions from `first` on pass what is tested by blocks, for `count` <= kBlock.
  BlockMask matches(std::uint64_t first, std::uint64_t count);
  BlockMask tested(std::uint64_t first, std::uint64_t count);
  std::uint64_t first_block() const { return worth_ == Selectivity::all ? kBlock : 64; }
  bool is_rest_empty() const {
    return event_tests_.empty() && residual_.empty() && search_.in_order();
  }
  bool passes_rest(std::uint64_t position) const {
    return is_rest_empty() || passes_tests(position);
  }
  bool passes_tests(std::uint64_t position) const;
  std::uint64_t test_attribute(std::uint32_t comparison, std::uint64_t first,
                               std::uint64_t count) const;

  const plan::Scan& scan_;
  const history::EventStore& store_;
  std::shared_ptr<const history::Timeline> timeline_;
  std::shared_ptr<const history::RangeIndex> ranges_;
  Selectivity worth_;
  std::vector<ImpliedBounds> implied_;  // for the range index
  std::vector<BlockCondition> blocks_;
  ScanGroup group_;
  bool scans_ = false;          // whether the last search that tried to gather did not
  std::size_t operations_ = 0;  // what blocks do on an event
  std::vector<std::uint32_t> attribute_tests_;  // other comparisons of attributes
  std::vector<std::uint32_t> event_tests_;      // comparisons of what must be calculated
  std::vector<const Expr*> residual_;

  // The members below belong to the search in hand.
  std::vector<Datum> operands_;
  std::vector<BlockCondition::Binding> bindings_;  // of the conditions in `blocks_`
  std::optional<std::size_t> member_;              // if it was scanned with the group: which of it
  Search search_;
  history::Range window_;  ///< the next one is looked for near it
  bool gathered_ = false;
  std::vector<history::Slot> found_;  // if gathered: the matches
};

template <class F>
void Scanner::each_block(history::Range range, F&& f) {
  for (std::uint64_t first = range.first; first < range.last; first += kBlock) {
    const std::uint64_t count = std::min<std::uint64_t>(kBlock, range.last - first);
    f(first, count, matches(first, count));
  }
}

template <class F>
bool Scanner::ascending(history::Range range, F&& f) {
  if (gathered_) {
    for (std::uint64_t p = range.first; p < range.last; ++p) {
      if (!f(p)) return false;
    }
    return true;
  }
  std::uint64_t size = first_block();
  for (std::uint64_t first = range.first; first < range.last; first += size, size = kBlock) {
    const std::uint64_t count = std::min(size, range.last - first);
    const BlockMask masks = matches(first, count);
    for (std::uint64_t word = 0; word * 64 < count; ++word) {
      for (std::uint64_t mask = masks[word]; mask != 0; mask &= mask - 1) {
        const auto bit = static_cast<unsigned>(std::countr_zero(mask));
        const std::uint64_t position = first + word * 64 + bit;
        if (passes_rest(position) && !f(position)) return false;
      }
    }
  }
  return true;
}

template <class F>
bool Scanner::descending(history::Range range, F&& f) {
  if (gathered_) {
    for (std::uint64_t p = range.last; p > range.first; --p) {
      if (!f(p - 1)) return false;
    }
    return true;
  }
  std::uint64_t size = first_block();
  for (std::uint64_t last = range.last; last > range.first; size = kBlock) {
    const std::uint64_t count = std::min(size, last - range.first);
    const std::uint64_t first = last - count;
    const BlockMask masks = matches(first, count);
    for (std::uint64_t word = (count + 63) / 64; word-- > 0;) {
      std::uint64_t mask = masks[word];
      while (mask != 0) {
        const auto bit = static_cast<unsigned>(63 - std::countl_zero(mask));
        mask ^= std::uint64_t{1} << bit;
        const std::uint64_t position = first + word * 64 + bit;
        if (passes_rest(position) && !f(position)) return false;
      }
    }
    last = first;
  }
  return true;
}

}  // namespace gorgo::engine
