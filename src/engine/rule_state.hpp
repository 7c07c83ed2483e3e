#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "gorgo/rule.hpp"
#include "history/event_store.hpp"

namespace gorgo::engine {

/// Events that a rule has consumed in one of its states, by slot. Memory is in proportion to the
/// events that are still remembered.
class ConsumedSlots {
 public:
  bool contains(history::Slot slot) const { return !slots_.empty() && slots_.contains(slot); }
  void insert(history::Slot slot) { slots_.insert(slot); }

  /// Forgets events before `slot`, which are remembered no more. Amortised: does nothing until the
  /// set has doubled.
  void forget_before(history::Slot slot) {
    if (slots_.size() < threshold_) return;
    std::erase_if(slots_, [slot](history::Slot consumed) { return consumed < slot; });
    threshold_ = std::max(kSmallest, 2 * slots_.size());
  }

  std::size_t size() const { return slots_.size(); }

 private:
  static constexpr std::size_t kSmallest = 1024;

  std::unordered_set<history::Slot> slots_;
  std::size_t threshold_ = kSmallest;
};

/// What a deployed rule remembers besides the history: all of its semantic state, so that any
/// engine can evaluate the rule's next batch. One evaluation at a time uses it.
struct RuleState {
  /// By state of the rule; empty for states that are not consumed.
  std::vector<ConsumedSlots> consumed;
  /// The rule sees only events with a later timestamp: the clock when it was deployed.
  /// Unset before any event: everything is seen.
  std::optional<Timestamp> deployed_at;

  std::uint64_t terminators = 0;  ///< events evaluated
  std::uint64_t composites = 0;   ///< produced
  std::uint64_t overflows = 0;    ///< terminators given up at max_sequences

  explicit RuleState(const Rule& rule) : consumed(rule.states.size()) {}
};

}  // namespace gorgo::engine
