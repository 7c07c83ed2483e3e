#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/workers.hpp"
#include "dispatch/evaluate/batch.hpp"
#include "dispatch/evaluate/batch_reducer.hpp"
#include "dispatch/evaluate/batch_sizer.hpp"
#include "dispatch/evaluate/composite_limit.hpp"
#include "dispatch/evaluate/cycle_runner.hpp"
#include "dispatch/evaluate/expected_records.hpp"
#include "dispatch/evaluate/history_writer.hpp"
#include "dispatch/evaluate/rule_runner.hpp"
#include "dispatch/evaluate/terminator_queues.hpp"
#include "dispatch/evaluate/terminator_run.hpp"
#include "dispatch/evaluate/wave.hpp"
#include "dispatch/placement/placer.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "gorgo/processor.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Takes a batch of events through the rules, stratum by stratum (language.md §7). The work is in
/// proportion to the events and the rules that they concern. Evaluates in waves: where there are
/// too many composites to hold, the events up to a cut are finished before the next are looked at.
///
/// Owns the order of the work: it cuts the waves and takes each through the levels. Invariant: when
/// a level is reached, everything that its rules read is stored, as far as the wave goes.
class Evaluation {
 public:
  struct Limits {
    std::uint32_t max_depth = 16;
    std::uint64_t max_composites = 1'000'000;            ///< per root
    std::size_t max_held_bytes = std::size_t{64} << 20;  ///< of composites; a wave is cut there
    Duration latency_target = 0;                         ///< of a batch; 0: none
    std::size_t thread_events = 0;  ///< worth handing to another thread; 0: by what they cost
  };

  Evaluation(RuleSet& rules, history::History& history, ProcessorCounters& counters,
             Workers& workers, Placer& placer, RuleRunner& runner, Suspensions& suspensions,
             const Limits& limits, const std::atomic<bool>& stop);

  /// How many roots a batch should have, so that about as many composites as fit a cache come of
  /// them. Where the cuts are does not matter to the results.
  std::size_t batch_roots() const { return sizer_.roots(); }

  /// Starts on a batch, which must stay until it is empty. `clock` is the largest released
  /// timestamp, the batch included.
  void start(Batch& batch, Timestamp clock);
  /// Evaluates some events of the batch to the end; afterwards those are `finished`.
  void run_wave();
  bool finished(const Record& record) const { return wave_.finishes(record); }
  /// Whether the wave has brought any root to its end.
  bool has_finished() const { return wave_.has_finished(); }
  /// Whether finished records of one root stand in place order. They do where there is one stratum
  /// without cycles, and no rule ran ahead of others in an earlier wave.
  bool is_in_rule_order() const {
    return rules_.strata().levels() == 1 && rules_.strata().cycles().empty() && !ran_ahead_;
  }
  /// The rules that the batch has brought terminators so far.
  std::span<const std::uint32_t> evaluated() const { return queues_.rules(); }
  /// Takes the finished records out of the batch.
  void drop_finished();
  const DroppedComposite& last_dropped() const { return limit_.last_dropped(); }
  const std::string& last_passed_over() const { return run_.last_passed_over(); }

 private:
  std::uint64_t most_composites() const;
  void run_cycles(std::uint32_t level);
  void run_rules(std::uint32_t level);
  void find_due_rules(std::uint32_t level);
  void limit_level(std::uint32_t level);
  void forget_finished();

  RuleSet& rules_;
  const history::History& history_;
  Placer& placer_;
  RuleRunner& runner_;
  Wave wave_;
  TerminatorQueues queues_;
  ExpectedRecords expected_;
  CompositeLimit limit_;
  HistoryWriter writer_;
  BatchReducer reducer_;
  TerminatorRun run_;
  CycleRunner cycles_;
  BatchSizer sizer_;
  std::vector<std::uint32_t> due_;  // rules of the level in hand
  bool ran_ahead_ = false;          // an earlier wave left composites behind
};

}  // namespace gorgo::dispatch
