#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/column/search.hpp"
#include "history/timeline.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {

/// Finds the events of one predicate in one window of its column: compares the column's attributes
/// in blocks of 64 positions and tests what remains event by event. Has one search in hand at a
/// time.
class Scanner {
 public:
  /// `scan` and `store` must outlive the scanner.
  Scanner(const plan::Scan& scan, const history::EventStore& store,
          std::shared_ptr<const history::Timeline> timeline);

  const std::shared_ptr<const history::Timeline>& timeline() const { return timeline_; }
  history::EventRef event(std::uint64_t position) const {
    return {&store_, timeline_->slot(position)};
  }

  /// The range in the timeline; empty when nothing can match.
  history::Range start(const Search& search);

  /// Calls `f(position)` for the matching positions of the range in ascending (or descending)
  /// order until it returns false. Returns whether it ran to the end.
  template <class F>
  bool ascending(history::Range range, F&& f) const;
  template <class F>
  bool descending(history::Range range, F&& f) const;

 private:
  static constexpr std::uint64_t kBlock = 64;

  /// Bit i tells whether position `first + i` passes the comparisons of attributes, for `count` <=
  /// 64 positions.
  std::uint64_t matches(std::uint64_t first, std::uint64_t count) const;
  bool passes_rest(std::uint64_t position) const {
    return (simple_ && search_.in_order) || passes_tests(position);
  }
  bool passes_tests(std::uint64_t position) const;

  const plan::Scan& scan_;
  const history::EventStore& store_;
  std::shared_ptr<const history::Timeline> timeline_;
  std::vector<Datum> operands_;
  bool simple_;  ///< nothing is left to test after `matches`
  Search search_;
};

template <class F>
bool Scanner::ascending(history::Range range, F&& f) const {
  for (std::uint64_t first = range.first; first < range.last; first += kBlock) {
    std::uint64_t mask = matches(first, std::min(kBlock, range.last - first));
    for (; mask != 0; mask &= mask - 1) {
      const std::uint64_t position = first + static_cast<unsigned>(std::countr_zero(mask));
      if (passes_rest(position) && !f(position)) return false;
    }
  }
  return true;
}

template <class F>
bool Scanner::descending(history::Range range, F&& f) const {
  for (std::uint64_t last = range.last; last > range.first;) {
    const std::uint64_t first = last - std::min(kBlock, last - range.first);
    std::uint64_t mask = matches(first, last - first);
    while (mask != 0) {
      const auto bit = static_cast<unsigned>(63 - std::countl_zero(mask));
      mask ^= std::uint64_t{1} << bit;
      if (passes_rest(first + bit) && !f(first + bit)) return false;
    }
    last = first;
  }
  return true;
}

}  // namespace gorgo::engine
