#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "engine/column/search.hpp"
#include "history/evaluate.hpp"
#include "history/timeline.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {

/// Finds all events of a column in one window: for predicates that ask nothing of an event but what
/// the column asks. Small, because most of many rules that differ in constants have only such ones.
class WholeWindow {
 public:
  /// `scan` and `store` must outlive this. Precondition: the scan has neither comparisons nor a
  /// residual.
  WholeWindow(const plan::Scan& scan, const history::EventStore& store,
              std::shared_ptr<const history::Timeline> timeline)
      : guards_(scan.guards), store_(store), timeline_(std::move(timeline)) {}

  const std::shared_ptr<const history::Timeline>& timeline() const { return timeline_; }
  history::EventRef event(std::uint64_t position) const {
    return {&store_, timeline_->slot(position)};
  }

  /// Whether every event of the range matches that stands before the terminator.
  bool is_exact() const { return true; }
  /// Time alone tells which events of the range before this position stand before the terminator.
  std::uint64_t ordered_end(history::Range range) const {
    if (search_.in_order()) return range.last;
    return range.clamp(timeline_->window(search_.interval.after, search_.ordered_before).last);
  }

  /// The range that holds the matches; empty when nothing can match.
  history::Range start(const Search& search) {
    search_ = search;
    const history::Scope scope{.candidate = {}, .states = search.sequence, .aggregates = {}};
    if (!history::all_hold(guards_, scope)) return {};
    window_ = timeline_->window(search.interval.after, search.interval.before, window_);
    return window_;
  }

  /// Calls `f(position)` for the matching positions of the range in ascending (or descending)
  /// order until it returns false. Returns whether it ran to the end.
  template <class F>
  bool ascending(history::Range range, F&& f) const {
    for (std::uint64_t p = range.first; p < range.last; ++p) {
      if (passes(p) && !f(p)) return false;
    }
    return true;
  }
  template <class F>
  bool descending(history::Range range, F&& f) const {
    for (std::uint64_t p = range.last; p > range.first; --p) {
      if (passes(p - 1) && !f(p - 1)) return false;
    }
    return true;
  }

 private:
  bool passes(std::uint64_t position) const {
    return search_.in_order() || search_.sees(event(position), timeline_->timestamp(position));
  }

  std::span<const Expr> guards_;
  const history::EventStore& store_;
  std::shared_ptr<const history::Timeline> timeline_;

  // The members below belong to the search in hand.
  history::Range window_;  ///< the next one is looked for near it
  Search search_;
};

}  // namespace gorgo::engine
