#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/evaluate/batch.hpp"
#include "dispatch/evaluate/batch_sizer.hpp"
#include "dispatch/evaluate/composite_limit.hpp"
#include "dispatch/evaluate/rule_runner.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "gorgo/processor.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Takes a batch of events through the rules, stratum by stratum (TESLA.md §7). The work is in
/// proportion to the events and the rules that they concern. Evaluates in waves: where there are
/// too many composites to hold, the events up to a cut are finished before the next are looked at.
class Evaluation {
 public:
  struct Limits {
    std::uint32_t max_depth = 16;
    std::uint64_t max_composites = 1'000'000;            ///< per root
    std::size_t max_held_bytes = std::size_t{64} << 20;  ///< of composites; a wave is cut there
    RuleRunner::Sharing sharing;
    Placer::Options placement;
    Duration latency_target = 0;  ///< of a batch; 0: none
  };

  Evaluation(RuleSet& rules, history::History& history, ProcessorCounters& counters,
             const Limits& limits, const std::atomic<bool>& stop)
      : rules_(rules),
        history_(history),
        counters_(counters),
        limits_(limits),
        stop_(stop),
        held_(limits.max_held_bytes, kBesideComposite),
        runner_(rules, history, limits.sharing, limits.placement, stop),
        sizer_(limits.latency_target),
        limit_(rules, counters, limits.max_composites) {}

  /// How many roots a batch should have, so that about as many composites as fit a cache come of
  /// them. Where the cuts are does not matter to the results.
  std::size_t batch_roots() const { return sizer_.roots(); }

  /// See Placer::add_time.
  void add_time(double took) { runner_.add_time(took); }
  /// Starts on a batch, which must stay until it is empty. `clock` is the largest released
  /// timestamp, the batch included.
  void start(Batch& batch, Timestamp clock);
  /// Evaluates some events of the batch to the end; afterwards those are `finished`.
  void run_wave();
  bool finished(const Record& record) const { return record.root < cut_ && !record.dropped; }
  /// Whether the wave has brought any root to its end.
  bool has_finished() const { return cut_ > front_; }
  /// Whether finished records of one root stand in place order. They do where there is one stratum
  /// without cycles, and no rule ran ahead of others in an earlier wave.
  bool is_in_rule_order() const {
    return rules_.strata().levels() == 1 && rules_.strata().cycles().empty() && !ran_ahead_;
  }
  /// Takes the finished records out of the batch.
  void drop_finished();
  const DroppedComposite& last_dropped() const { return limit_.last_dropped(); }
  const std::string& last_passed_over() const { return last_passed_over_; }

 private:
  /// A stored event of the batch, as a terminator to be.
  struct Arrival {
    history::Slot slot;
    std::uint32_t record;  ///< kNoRecord once it is finished
  };
  /// Records up to a root and, in that root, up to a depth.
  struct Bound {
    std::uint64_t root;
    std::uint32_t depth;

    bool admits(const Record& r) const {
      return r.root < root || (r.root == root && r.depth <= depth);
    }
  };
  using Records = std::vector<std::uint32_t>;
  /// Bytes that a composite takes in the batch and in lists of its records, its cells aside.
  static constexpr std::size_t kBesideComposite = sizeof(Record) + 4 * sizeof(std::uint32_t);
  using Clock = std::chrono::steady_clock;
  /// The events of one type on their way into the history.
  struct Incoming {
    Records records;     ///< not stored yet
    bool known = false;  ///< the type stands in `incoming_types_`

    // The members below are about what was stored last.
    Records stored;
    std::vector<history::NewEvent> events;
    history::Slot first = 0;
    std::uint32_t deepest = 0;  ///< greatest depth
    std::span<const history::History::Match> matches;
  };

  void begin_wave();
  std::size_t held_bytes() const {
    return composites_ * kBesideComposite + composite_cells_ * sizeof(Datum);
  }
  bool holds_too_much() const { return held_bytes() >= limits_.max_held_bytes; }
  std::uint64_t most_composites() const;
  void forget_finished();
  void forget_dropped(std::size_t first);
  void reduce(const std::function<bool(std::uint32_t, const Record&)>& is_kept);
  void renumber();
  void expect(TypeId type, std::uint32_t record);
  Records& sorted_incoming(TypeId type);
  void store_level(std::uint32_t level);
  void share_types();
  void store_type(TypeId type);
  /// Throws OutOfMemory.
  void store(TypeId type);
  void remember(TypeId type);
  void take_in(std::span<const TypeId> types);
  void arrive(TypeId type);
  void mark_too_deep(TypeId type);
  std::vector<Arrival>* arrivals_of(history::ColumnId column);

  void run_cycles(std::uint32_t level);
  void run_rules(std::uint32_t level);
  void collect_terminators(std::uint32_t index, const Bound& bound);
  void run_collected();
  /// Throws OutOfMemory.
  void take_out(const RuleRunner::Part& part);
  bool settle_terminators(const RuleRunner::Part& part);
  void add_composites(const RuleRunner::Part& part, std::size_t first_cell);
  void add_awaited(const RuleRunner::Part& part, std::size_t first_cell);
  Record composite_record(const RuleRunner::Part& part, std::size_t first_cell,
                          const engine::CompositeSink::Composite& composite) const;
  void add_records(std::uint32_t rule, std::size_t first);
  void await_deadline(Timestamp deadline, const Record& composite,
                      std::span<const history::EventRef> sequence);
  void limit_level(std::uint32_t level);
  void note_passed_over(std::uint32_t rule, std::uint64_t terminators);

  void run_cycle(const plan::Cycle& cycle);
  void run_cycle_root(std::uint64_t root);
  /// The earliest (root, depth) that waits for the cycle in hand within the wave; false when none
  /// does.
  bool next_of_cycle(Bound& next) const;
  void store_step(const Bound& step);
  void run_step(const Bound& step);

  RuleSet& rules_;
  history::History& history_;
  ProcessorCounters& counters_;
  const Limits limits_;
  const std::atomic<bool>& stop_;
  engine::HeldBytes held_;
  RuleRunner runner_;

  BatchSizer sizer_;
  CompositeLimit limit_;
  std::string last_passed_over_;

  Batch* batch_ = nullptr;
  Timestamp clock_ = 0;
  std::vector<Incoming> incoming_;              // by TypeId, for types that the history keeps
  std::vector<TypeId> incoming_types_;          // types that have or had records in the batch
  std::vector<std::vector<Arrival>> arrivals_;  // by ColumnId: stored terminators of rules
  std::vector<history::ColumnId> columns_;      // columns that have arrivals
  std::vector<std::size_t> next_arrival_;       // by rule: the first that it has not evaluated
  Records touched_;                             // rules that have arrivals
  std::size_t roots_ = 0;                       // of the batch
  std::uint64_t front_ = 0;                     // the first root of the wave
  std::uint64_t cut_ = 0;                       // the wave ends before this root
  bool is_cut_ = false;                         // an earlier wave of the batch was cut
  std::size_t extra_ = 0;       // bytes that may be added whatever is held, see HeldBytes
  std::size_t composites_ = 0;  // in the batch
  std::size_t composite_cells_ = 0;
  bool ran_ahead_ = false;  // an earlier wave left composites behind

  std::vector<TypeId> due_types_;    // types of the level in hand
  std::vector<std::size_t> shares_;  // of `due_types_` among threads: where each ends
  unsigned at_once_ = 1;             // so many threads store types at the same time
  std::vector<const history::Chore*> chores_;
  std::vector<std::size_t> first_cells_;  // by job: where its composites' cells begin

  // Scratch of drop_finished.
  Batch rest_;
  Records moved_;

  // Position, among the collected terminators, of the first one of the wave's first root.
  std::optional<std::size_t> certain_;

  // The members below are about the cycle in hand.
  const plan::Cycle* cycle_ = nullptr;
  bool step_goes_on_ = false;             // some terminators of the step are not evaluated yet
  std::vector<std::size_t> cycle_front_;  // by type of the cycle: the first of incoming_ not stored
  Records cycle_composites_;              // those of its rules, not stored yet; all of one root
};

}  // namespace gorgo::dispatch
