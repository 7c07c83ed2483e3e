#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/panes.hpp"
#include "engine/produced.hpp"
#include "engine/terminator_counts.hpp"
#include "gorgo/rule.hpp"
#include "history/event_store.hpp"
#include "history/sliding_vector.hpp"

namespace gorgo::engine {

/// Events that a rule has consumed in one of its states, by slot. Memory is in proportion to the
/// events that are still remembered.
class ConsumedSlots {
 public:
  bool contains(history::Slot slot) const { return !slots_.empty() && slots_.contains(slot); }
  /// `by`: the terminator.
  void insert(history::Slot slot, history::Slot by) {
    slots_.emplace(slot, by);
    ++insertions_;
  }
  /// Undoes `insert`, if this terminator was the one that consumed the event.
  void take_back(history::Slot slot, history::Slot by) noexcept {
    const auto known = slots_.find(slot);
    if (known != slots_.end() && known->second == by) slots_.erase(known);
  }
  /// Calls `f(slot, by)` for each, in no order.
  template <class F>
  void for_each(F&& f) const {
    for (const auto& [slot, by] : slots_) f(slot, by);
  }
  /// How often anything was consumed so far.
  std::uint64_t insertions() const { return insertions_; }
  /// The terminator that consumed it. Precondition: `contains(slot)`.
  history::Slot consumer(history::Slot slot) const { return slots_.at(slot); }
  /// What terminators before this one consumed.
  ConsumedSlots before(history::Slot terminator) const {
    ConsumedSlots result;
    for (const auto& [slot, by] : slots_) {
      if (by < terminator) result.insert(slot, by);
    }
    return result;
  }

  /// Forgets events before `slot`, which the history does not remember either. Amortised: does
  /// nothing until the set has doubled.
  void forget_before(history::Slot slot) {
    if (slots_.size() < threshold_) return;
    std::erase_if(slots_, [slot](const auto& consumed) { return consumed.first < slot; });
    threshold_ = std::max(kSmallest, 2 * slots_.size());
  }

  std::size_t size() const { return slots_.size(); }
  /// An estimate: a node and its bucket.
  std::size_t bytes() const { return slots_.size() * 4 * sizeof(void*); }

 private:
  static constexpr std::size_t kSmallest = 1024;

  std::unordered_map<history::Slot, history::Slot> slots_;
  std::size_t threshold_ = kSmallest;
  std::uint64_t insertions_ = 0;
};

/// A place (language.md §1) that outlives its batch: the root, the depth, and the (rule, sequence)
/// of every composite on the way from the root to the event.
struct PlaceKey {
  std::uint64_t root = 0;
  std::uint32_t depth = 0;
  std::vector<std::uint32_t> path;

  friend auto operator<=>(const PlaceKey&, const PlaceKey&) = default;
};

/// A composite that waits for the deadline of its rule (language.md §8): only the absence is open.
struct PendingComposite {
  PlaceKey terminator;
  std::uint32_t sequence = 0;  ///< rank among the composites of its terminator
  std::vector<Datum> cells;    ///< strings refer to the history, the rule and `texts`
  /// Strings that functions computed; null: none.
  std::shared_ptr<const std::vector<std::string>> texts;
  std::vector<history::EventRef> events;  ///< of the sequence; the history keeps them until then
};

/// A composite whose absences were decided, as long as its terminator is remembered.
struct DecidedComposite {
  history::Slot terminator;
  std::uint32_t sequence;       ///< rank among the composites of its terminator
  std::uint64_t visible_roots;  ///< what had been placed by then has lower roots
};

/// How many composites of a terminator `@at_most` cut, as long as the terminator is remembered.
struct CutComposites {
  history::Slot terminator;
  std::uint64_t count;
};

/// What a rule remembers that has a timer, with or without `@panes`, a deadline, `@at_most` or
/// `every`.
struct TimedState {
  std::multimap<Timestamp, PendingComposite> pending;  ///< by deadline
  history::SlidingVector<DecidedComposite> decided;    ///< in the order of the decisions
  ProducedComposites produced;                         ///< with `@at_most`
  history::SlidingVector<CutComposites> cut;           ///< in the order of the decisions
  TerminatorCounts counts;                             ///< with `every`
  std::vector<Panes> panes;                            ///< with `@panes`: by aggregate
  /// Instants later than this are the timer's; unset before the first event after deployment.
  std::optional<Timestamp> timer_from;
  /// Instants up to here are over for a timer; unset before the first event after deployment.
  std::optional<Timestamp> timer_at;
  std::uint64_t skipped_instants = 0;  ///< of a timer, in gaps that were too long

  /// Owns the strings of pending composites that were saved and brought back.
  std::shared_ptr<const void> restored;

  /// Memory beyond the object itself, estimated where containers do not tell.
  std::size_t bytes() const {
    std::size_t total = decided.bytes() + produced.bytes() + cut.bytes() + counts.bytes();
    for (const Panes& of_aggregate : panes) total += sizeof(Panes) + of_aggregate.bytes();
    for (const auto& [deadline, composite] : pending) {
      total += sizeof(composite) + composite.cells.size() * sizeof(Datum) +
               composite.events.size() * sizeof(history::EventRef) +
               composite.terminator.path.size() * sizeof(std::uint32_t);
    }
    return total;
  }
};

/// What a deployed rule remembers besides the history: all of its semantic state, so that any
/// engine can evaluate the rule's next batch. One evaluation at a time uses it.
struct RuleState {
  /// The clock when the rule was deployed: the rule sees only events with a later timestamp. Unset
  /// if there was no event before: the rule sees everything.
  std::optional<Timestamp> deployed_at;
  /// By state of the rule, empty for states that are not consumed; none where the rule consumes
  /// nothing.
  std::vector<ConsumedSlots> consumed;
  std::uint64_t terminators = 0;  ///< events evaluated
  std::uint64_t composites = 0;   ///< produced
  std::uint64_t overflows = 0;    ///< terminators given up at max_sequences
  std::uint64_t passed_over = 0;  ///< terminators so far
  bool suspended = false;         ///< its terminators are passed over

  explicit RuleState(const Rule& rule) : consumed(rule.consuming.empty() ? 0 : rule.states.size()) {
    if (rule.options.panes) own_timed().panes.resize(rule.aggregates.size());
  }

  /// How many terminators it had so far.
  std::uint64_t all_terminators() const { return terminators + passed_over; }

  /// Whether an earlier terminator consumed the event in this state of the rule.
  bool is_consumed(std::size_t state, history::Slot slot) const {
    return !consumed.empty() && consumed[state].contains(slot);
  }

  /// Few rules have any of this, so that memory is taken for it when `own_timed` is first asked.
  const TimedState& timed() const {
    static const TimedState none;
    return timed_ == nullptr ? none : *timed_;
  }
  TimedState& own_timed() {
    if (timed_ == nullptr) timed_ = std::make_unique<TimedState>();
    return *timed_;
  }

  /// Memory beyond the object itself, estimated where containers do not tell.
  std::size_t bytes() const {
    std::size_t total = timed_ == nullptr ? 0 : sizeof(TimedState) + timed_->bytes();
    for (const auto& slots : consumed) total += slots.bytes();
    return total;
  }

  /// Whether `@at_most` lets a composite of the terminator be produced; notes what it says.
  bool admit(const Rule& rule, std::span<const Datum> composite, Timestamp at,
             history::Slot terminator) {
    if (!rule.at_most || own_timed().produced.admit(*rule.at_most, composite, at)) return true;
    auto& cut = own_timed().cut;
    if (cut.size() == 0 || cut[cut.end() - 1].terminator != terminator) {
      cut.push_back({terminator, 0});
    }
    ++cut.back().count;
    return false;
  }

  /// Forgets what was decided about terminators before `slot`, which the history does not remember.
  void forget_decided_before(history::Slot slot) {
    if (timed_ == nullptr) return;
    const auto drop = [slot](auto& decisions) {
      std::uint64_t first = decisions.begin();
      while (first < decisions.end() && decisions[first].terminator < slot) ++first;
      decisions.drop_before(first);
    };
    drop(timed_->decided);
    drop(timed_->cut);
  }

 private:
  std::unique_ptr<TimedState> timed_;
};

}  // namespace gorgo::engine
