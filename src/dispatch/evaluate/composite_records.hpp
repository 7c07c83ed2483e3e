#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dispatch/evaluate/batch.hpp"
#include "dispatch/evaluate/rule_runner.hpp"
#include "dispatch/evaluate/terminator_queues.hpp"
#include "dispatch/evaluate/wave.hpp"
#include "dispatch/rules/rule_set.hpp"

namespace gorgo::dispatch {

/// Makes records of the batch of the composites that a run of rules has found. Those that wait for
/// a deadline become part of the state of their rules instead.
class CompositeRecords {
 public:
  CompositeRecords(RuleSet& rules, Wave& wave, const TerminatorQueues& queues,
                   const RuleRunner& runner, const std::atomic<bool>& stop)
      : rules_(rules), wave_(wave), queues_(queues), runner_(runner), stop_(stop) {}

  /// Starts on a batch. `clock`: the largest released timestamp, the batch included.
  void start(Timestamp clock) { clock_ = clock; }
  /// Adds the part's composites to the batch. False: there was no memory, and it is as if the rule
  /// had not been evaluated. Throws OutOfMemory where the state of the rule has changed already.
  bool add(const RuleRunner::Part& part);

 private:
  using Composite = engine::CompositeSink::Composite;

  void add_cells(const RuleRunner::Part& part);
  void add_all(const RuleRunner::Part& part);
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
  std::uint32_t first_cell_ = 0;  // in the batch, of the part in hand
};

}  // namespace gorgo::dispatch
