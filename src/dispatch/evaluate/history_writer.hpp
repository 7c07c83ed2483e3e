#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/workers.hpp"
#include "dispatch/evaluate/batch.hpp"
#include "dispatch/evaluate/composite_limit.hpp"
#include "dispatch/evaluate/expected_records.hpp"
#include "dispatch/evaluate/terminator_queues.hpp"
#include "dispatch/evaluate/wave.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Stores the records of a batch in the history, a type at a time, and queues those that are
/// terminators of rules. Owns what the history is given and answers for each type. Has rules with
/// `@panes` sum up what is stored.
///
/// Invariant: the records of a type are stored in place order, and each only once.
class HistoryWriter {
 public:
  /// `thread_events`: so many events are worth handing to another thread; 0: by what they cost.
  /// Events that are `max_depth` deep are no terminators.
  HistoryWriter(RuleSet& rules, history::History& history, const Wave& wave,
                ExpectedRecords& expected, TerminatorQueues& queues, CompositeLimit& limit,
                Workers& workers, std::uint32_t max_depth, std::size_t thread_events)
      : rules_(rules),
        history_(history),
        wave_(wave),
        expected_(expected),
        queues_(queues),
        limit_(limit),
        workers_(workers),
        max_depth_(max_depth),
        thread_events_(thread_events) {}

  /// Starts on a batch.
  void start() { stored_.resize(rules_.schema().size()); }
  /// Stores the records of the wave whose types are complete at this level and on no cycle. Throws
  /// OutOfMemory.
  void store_level(std::uint32_t level);
  /// Stores records of one type, which come in place order, and leaves anything in `records`.
  /// `queue_terminators` of the type is to be called before the next ones. Throws OutOfMemory.
  void store(TypeId type, Records& records);
  /// Queues the terminators among what was stored of the types last, and finishes storing.
  void queue_terminators(std::span<const TypeId> types);

 private:
  /// What was stored of a type last.
  struct Stored {
    Records records;
    std::vector<history::NewEvent> events;
    std::vector<Datum> cells;  ///< of a joint type's events
    history::Slot first = 0;
    std::uint32_t deepest = 0;  ///< greatest depth
    std::span<const history::History::Match> matches;
  };

  void find_due_types(std::uint32_t level);
  void store_due(TypeId type);
  void store_together();
  void share_types();
  void store(TypeId type);
  void remember(TypeId type);
  void append(TypeId type, const Stored& stored);
  void join(const EventType& joint, Stored& stored);
  bool counts_depth(TypeId type, const Record& record) const;
  void queue_terminators(TypeId type);
  void mark_too_deep(TypeId type);

  RuleSet& rules_;
  history::History& history_;
  const Wave& wave_;
  ExpectedRecords& expected_;
  TerminatorQueues& queues_;
  CompositeLimit& limit_;
  Workers& workers_;
  const std::uint32_t max_depth_;
  const std::size_t thread_events_;
  std::vector<Stored> stored_;       // by TypeId
  std::vector<TypeId> due_types_;    // types of the level in hand
  std::vector<std::size_t> shares_;  // of `due_types_` among threads: where each ends
  unsigned at_once_ = 1;             // so many threads store types at the same time
  std::vector<const history::Chore*> chores_;
};

}  // namespace gorgo::dispatch
