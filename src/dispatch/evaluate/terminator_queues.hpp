#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dispatch/evaluate/batch.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// The stored events of a batch that are terminators of rules, in a queue for each column, which
/// the rules of the column share. Owns the queues, and for each rule the position of the first
/// terminator that it has not evaluated. Only columns that get terminators have a queue, so that
/// the queues stay in the cache however many rules there are.
///
/// Invariant: a queue is in place order, and so each rule evaluates its terminators in place order.
class TerminatorQueues {
 public:
  struct Terminator {
    history::Slot slot;
    std::uint32_t record;  ///< kNoRecord once it is finished
  };
  using Queue = std::vector<Terminator>;

  explicit TerminatorQueues(const RuleSet& rules) : rules_(rules) {}

  /// Starts on a batch. Every column is below `columns`.
  void start(history::ColumnId columns);
  /// Queues the terminators among the events that columns have taken in. `records`: those of the
  /// events from the slot `first` on.
  void add(std::span<const history::History::Match> matches, history::Slot first,
           const Records& records);

  /// The rules that have terminators in the batch, or had some.
  std::span<const std::uint32_t> rules() const { return touched_; }
  const Queue& of(const DeployedRule& rule) const {
    static const Queue none;
    const std::uint32_t place = places_[rule.terminator_column];
    return place == kNone ? none : queues_[place];
  }
  /// The position in its queue of the first terminator that the rule has not evaluated. Means
  /// something only while the queue is not empty.
  std::uint32_t& next(std::uint32_t rule) { return next_[rule]; }
  /// That terminator; null: the rule has evaluated all.
  const Terminator* first_left(std::uint32_t rule) const;

  /// Replaces the numbers of records by these.
  void renumber(const Records& numbers);

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  void empty(std::size_t place);
  Queue* queue_of(history::ColumnId column);

  const RuleSet& rules_;
  std::vector<std::uint32_t> places_;       // by ColumnId: among `queues_`, or kNone
  std::vector<history::ColumnId> columns_;  // those that have queues
  std::vector<Queue> queues_;               // of `columns_`; further ones keep their memory
  std::vector<std::uint32_t> next_;         // by rule
  std::vector<std::uint32_t> touched_;
};

}  // namespace gorgo::dispatch
