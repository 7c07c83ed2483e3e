#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dispatch/evaluate/batch.hpp"
#include "dispatch/evaluate/batch_reducer.hpp"
#include "dispatch/evaluate/composite_limit.hpp"
#include "dispatch/evaluate/expected_records.hpp"
#include "dispatch/evaluate/history_writer.hpp"
#include "dispatch/evaluate/terminator_queues.hpp"
#include "dispatch/evaluate/terminator_run.hpp"
#include "dispatch/evaluate/wave.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "plan/stratification.hpp"

namespace gorgo::dispatch {

/// Evaluates the rules of a cycle, which feed each other. Recursion is iteration: root by root, and
/// within a root depth by depth, the events of the cycle's types are stored in place order and
/// handed to the cycle's rules, whose composites are one deeper (language.md §7). Owns the records
/// of the cycle's types that are not stored yet, while the cycle runs.
///
/// Invariant: a root is not begun before everything of the roots before it is stored and evaluated.
class CycleRunner {
 public:
  CycleRunner(const RuleSet& rules, Wave& wave, TerminatorQueues& queues, ExpectedRecords& expected,
              HistoryWriter& writer, TerminatorRun& run, BatchReducer& reducer,
              CompositeLimit& limit, const std::atomic<bool>& stop)
      : rules_(rules),
        wave_(wave),
        queues_(queues),
        expected_(expected),
        writer_(writer),
        run_(run),
        reducer_(reducer),
        limit_(limit),
        stop_(stop) {}

  /// Takes the wave through the cycle. Cuts it behind a root that has brought about too much to
  /// hold. Throws OutOfMemory.
  void run(const plan::Cycle& cycle);

 private:
  /// Records of a type that were there before the cycle ran, in place order.
  struct Waiting {
    Records records;
    std::size_t front = 0;  ///< the first that is not stored
  };

  /// A composite that is to be stored in a type, its own or a joint one.
  struct Composite {
    TypeId type;
    std::uint32_t record;
  };

  void run_root(std::uint64_t root);
  bool find_next(Bound& next) const;
  void store_step(const Bound& step);
  void take_due(std::size_t type, const Bound& step);
  void run_step(const Bound& step);
  void add(TypeId type, std::size_t first);
  void add_to(TypeId stored, TypeId type, std::size_t first);
  void forget_dropped(std::size_t first);
  void put_back();

  const RuleSet& rules_;
  Wave& wave_;
  TerminatorQueues& queues_;
  ExpectedRecords& expected_;
  HistoryWriter& writer_;
  TerminatorRun& run_;
  BatchReducer& reducer_;
  CompositeLimit& limit_;
  const std::atomic<bool>& stop_;
  const plan::Cycle* cycle_ = nullptr;  // the one in hand
  std::vector<TypeId> types_;           // those of the cycle that the history keeps
  std::vector<Waiting> waiting_;        // by such a type
  std::vector<Composite> composites_;   // of its rules, not stored yet; all of one root
  Records due_;  // records of a type that are to be stored in the step in hand
};

}  // namespace gorgo::dispatch
