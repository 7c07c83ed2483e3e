#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dispatch/evaluate/batch.hpp"
#include "dispatch/evaluate/rule_runner.hpp"
#include "dispatch/evaluate/terminator_queues.hpp"
#include "dispatch/evaluate/wave.hpp"
#include "dispatch/rules/rule_set.hpp"

namespace gorgo::dispatch {

/// Makes records of the batch of the composites that a run of rules has found. Those that wait for
/// a deadline become part of the state of their rules instead. Owns the places that the cells of
/// the run's jobs have in the batch.
///
/// Invariant: the cells of a job are in the batch once, however many of its parts are added.
class CompositeRecords {
 public:
  CompositeRecords(RuleSet& rules, Wave& wave, const TerminatorQueues& queues,
                   const RuleRunner& runner, const std::atomic<bool>& stop)
      : rules_(rules), wave_(wave), queues_(queues), runner_(runner), stop_(stop) {}

  /// Starts on a batch. `clock`: the largest released timestamp, the batch included.
  void start(Timestamp clock) { clock_ = clock; }
  /// Starts on what the runner has run.
  void start_run();
  /// Adds the cells of the part's job to the batch, if they are not there.
  void add_cells(const RuleRunner::Part& part);
  /// Adds the part's composites to the batch. Precondition: its cells are there.
  void add(const RuleRunner::Part& part);

 private:
  using Composite = engine::CompositeSink::Composite;

  void add_known(const RuleRunner::Part& part);
  void add_awaited(const RuleRunner::Part& part);
  Record record_of(const RuleRunner::Part& part, const Composite& composite) const;
  void await_deadline(Timestamp deadline, const Record& composite,
                      std::span<const history::EventRef> sequence);

  RuleSet& rules_;
  Wave& wave_;
  const TerminatorQueues& queues_;
  const RuleRunner& runner_;
  const std::atomic<bool>& stop_;
  Timestamp clock_ = 0;
  std::vector<std::size_t> first_cells_;  // by job: where its composites' cells begin
};

}  // namespace gorgo::dispatch
