#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "dispatch/batch.hpp"
#include "dispatch/rule_set.hpp"
#include "gorgo/processor.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Takes a batch of released events through the rules, stratum by stratum, and hands out all
/// events in place order. Evaluates in waves: when the composites of a batch would take too much
/// memory, the events up to a cut are finished and delivered before evaluation goes on.
class Dispatcher {
 public:
  struct Limits {
    std::uint32_t max_depth = 16;
    std::uint64_t max_composites = 1'000'000;     ///< per root
    std::size_t max_held_composites = 1'000'000;  ///< cut a wave at about this many
  };

  Dispatcher(RuleSet& rules, history::History& history, ProcessorCounters& counters,
             const Limits& limits, const std::atomic<bool>& stop)
      : rules_(rules), history_(history), counters_(counters), limits_(limits), stop_(stop) {}

  /// Evaluates and delivers the whole batch and leaves it empty. When `stop` is set meanwhile, the
  /// rest of the batch is given up.
  void process(Batch& batch, const std::function<void(const OutputBatch&)>& deliver);

 private:
  /// A stored event of the batch, as a terminator to be.
  struct Arrival {
    history::Slot slot;
    std::uint32_t record;  ///< kNoRecord once it is delivered
  };
  using Records = std::vector<std::uint32_t>;

  void start(Batch& batch);
  void forget_before(Timestamp clock);
  void run_wave(Batch& batch);
  void store_type(TypeId type, Batch& batch);
  void run_rule(std::uint32_t index, Batch& batch);
  /// Fills `slots_` and `terminators_` with what the rule is to evaluate in this wave.
  void collect_terminators(std::uint32_t index, const Batch& batch);
  void add_composites(std::uint32_t index, const engine::CompositeSink& sink, Batch& batch);
  void enforce_composite_limit(std::uint32_t level, Batch& batch);
  void deliver_wave(Batch& batch, const std::function<void(const OutputBatch&)>& deliver);
  void drop_delivered(Batch& batch);
  bool in_wave(const Record& record) const { return record.root < cut_ && !record.dropped; }

  RuleSet& rules_;
  history::History& history_;
  ProcessorCounters& counters_;
  const Limits limits_;
  const std::atomic<bool>& stop_;

  // Of the batch in hand.
  std::vector<Records> incoming_;               // by TypeId: kept by the history, not stored yet
  std::vector<std::vector<Arrival>> arrivals_;  // by TypeId: stored
  std::vector<std::size_t> next_arrival_;       // by rule: the first it has not evaluated
  std::uint64_t cut_ = 0;                       // the wave ends before this root
  std::size_t composites_ = 0;                  // not delivered yet

  // Scratch of run_rule, kept for its memory.
  std::vector<history::Slot> slots_;
  std::vector<std::size_t> terminators_;  // of `slots_`: indices in arrivals_
  OutputBatch output_;
};

}  // namespace gorgo::dispatch
