#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/evaluate/composite_records.hpp"
#include "dispatch/evaluate/rule_runner.hpp"
#include "dispatch/evaluate/terminator_queues.hpp"
#include "dispatch/evaluate/wave.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "dispatch/rules/suspensions.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::dispatch {

/// Has rules that do not feed each other evaluate terminators of their queues, and adds what comes
/// of them to the batch. Owns the bytes that composites take while they are found. A rule for which
/// there is no memory is suspended from the terminator on that needed it, where this can be noted.
///
/// Invariant: a rule has moved on in its queue behind exactly those terminators whose composites
/// are in the batch or wait for a deadline. A terminator that found no room is evaluated again. A
/// rule with `every` has counted the events before the one in its queue at which it stands.
class TerminatorRun {
 public:
  /// Is told of the type of a rule's new records, which go from the number `first` to the last one.
  using Added = std::function<void(TypeId type, std::size_t first)>;

  /// `max_depth`: terminators so deep are left out.
  TerminatorRun(RuleSet& rules, Wave& wave, TerminatorQueues& queues, RuleRunner& runner,
                Suspensions& suspensions, ProcessorCounters& counters, std::size_t max_held_bytes,
                std::uint32_t max_depth, const std::atomic<bool>& stop)
      : rules_(rules),
        wave_(wave),
        queues_(queues),
        runner_(runner),
        suspensions_(suspensions),
        counters_(counters),
        records_(rules, wave, queues, runner, stop),
        held_(max_held_bytes, Wave::kBesideComposite),
        max_depth_(max_depth),
        stop_(stop) {}

  /// Starts on a batch. `clock`: the largest released timestamp, the batch included.
  void start(Timestamp clock) { records_.start(clock); }
  /// Notes the terminators that the rule has next, of the wave and up to the bound. The first one
  /// of the root `certain` that is noted is evaluated however much is held, so there is progress.
  void collect(std::uint32_t rule, const Bound& bound, std::uint64_t certain);
  /// Evaluates what was noted, until too much is held. `extra`: bytes that may be added whatever is
  /// held. Returns whether all terminators are done. Throws OutOfMemory.
  bool run(std::size_t extra, const Added& added);

  /// The rule that was the last one whose terminators were passed over, because it was suspended.
  const std::string& last_passed_over() const { return last_passed_over_; }

 private:
  bool is_in_sight(const DeployedRule& rule, std::uint32_t number, const Record& record) const;
  void take_back(std::uint32_t rule, std::uint32_t first, std::uint32_t last);
  void note_passed_over(std::uint32_t rule, std::uint64_t terminators);
  bool is_next(const RuleRunner::Part& part);
  bool add(const RuleRunner::Part& part, const Added& added);
  void settle_terminators(const RuleRunner::Part& part, std::size_t done);
  void suspend_starved();

  RuleSet& rules_;
  Wave& wave_;
  TerminatorQueues& queues_;
  RuleRunner& runner_;
  Suspensions& suspensions_;
  ProcessorCounters& counters_;
  CompositeRecords records_;
  engine::HeldBytes held_;
  const std::uint32_t max_depth_;
  const std::atomic<bool>& stop_;
  std::optional<std::size_t> certain_;  // position of this terminator among those noted
  bool is_cut_short_ = false;           // a rule has terminators left that were not noted
  std::vector<std::uint32_t> starved_;  // rules for which the run in hand has found no memory
  bool is_done_ = true;                 // the run in hand has left no terminator
  std::string last_passed_over_;
};

}  // namespace gorgo::dispatch
