#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "gorgo/rule.hpp"
#include "history/event_store.hpp"

namespace gorgo::engine {

/// What a deployed rule remembers besides the history: all of its semantic state, so that any
/// engine can evaluate the rule's next batch. One evaluation at a time uses it.
struct RuleState {
  /// Slots consumed, by state of the rule; empty sets for states that consume nothing.
  std::vector<std::unordered_set<history::Slot>> consumed;
  /// The rule sees only events with a later timestamp: the clock when it was deployed.
  /// Unset before any event: everything is seen.
  std::optional<Timestamp> deployed_at;

  std::uint64_t terminators = 0;  ///< events evaluated
  std::uint64_t composites = 0;   ///< produced
  std::uint64_t overflows = 0;    ///< terminators given up at max_sequences

  explicit RuleState(const Rule& rule) : consumed(rule.states.size()) {}

  bool is_consumed(std::size_t state, history::Slot slot) const {
    return !consumed[state].empty() && consumed[state].contains(slot);
  }
};

}  // namespace gorgo::engine
