#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/cuda/search_pass.hpp"

namespace gorgo::engine {

/// Terminators of one rule on their way through a device. A rule that consumes nothing takes one
/// pass. Where terminators consume what later ones could choose, a pass leaves out only what the
/// device knows to be consumed, and not what the pass's own terminators are going to consume. Then
/// all are gone through in their order. Those that relied on an event that an earlier one consumes
/// take another pass, which knows what is expected to be consumed before them. For the first
/// terminator of a pass that is certain, so each pass settles one terminator or more.
class RuleSearch {
 public:
  /// Plan and state must outlive the search.
  RuleSearch(DevicePlan& plan, const Terminators& terminators, const RuleState& state);

  /// Makes all pages that can be reached take part in the pool's round, for writers that share
  /// it. Precondition: the rule consumes nothing. Whoever calls holds the context's mutex. Throws
  /// DeviceError.
  void take_part();
  /// Adds the searches of the next round. Returns false when none are left. Throws DeviceError.
  bool ask(RoundWriter& writer);
  /// Takes the answers to what was asked.
  void take(const gpu::Answers& answers) { passes_.back().search->take(answers); }
  /// Whether it has become too large to be done with that many terminators.
  bool is_too_large() const { return !passes_.empty() && passes_.back().search->is_too_large(); }
  std::size_t terminators() const { return terminators_.slots.size(); }
  const DevicePlan& plan() const { return plan_; }

  /// Prepares what can be prepared of the report. Any thread may call. Precondition: nothing is
  /// left to be asked.
  void prepare_report();
  /// Reports the composites, terminator by terminator, counted from `first_terminator`, as
  /// Evaluator::evaluate does; returns how many terminators were reported. Precondition: nothing
  /// is left to be asked.
  std::size_t report(std::uint32_t first_terminator, const Budget& budget, CompositeSink& sink);
  /// Whether terminators compete for events so much that the last ones were given up.
  bool is_contended() const { return settled_ < terminators(); }

 private:
  struct Pass {
    std::vector<history::Slot> slots;  ///< unless they are all terminators
    std::unique_ptr<SearchPass> search;
    std::vector<bool> produces;  ///< by row: whether there is a composite
    std::vector<bool>
        consumes;  ///< by row: whether it is expected, so that its events are consumed
  };
  /// Where the sequences of a terminator are.
  struct Location {
    std::uint32_t pass;
    std::uint32_t number;  ///< of the terminator in the pass
  };

  void add_pass(std::vector<history::Slot> slots, const Terminators& terminators);
  bool begin_pass();
  bool report(std::uint32_t terminator, CompositeSink& sink) const;
  std::size_t report_prepared(std::uint32_t first_terminator, const Budget& budget,
                              CompositeSink& sink) const;
  void find_products(Pass& pass);
  void settle();
  bool stands(const Location& location) const;
  void expect(const Location& location);
  void forget(const Location& location);
  bool lost(std::span<const history::EventRef> row, const RuleState& state) const;
  ConsumedMarks& marks(std::uint32_t state) { return *plan_.states[state - 1].consumed; }
  const Rule& rule() const { return plan_.plan->rule; }

  DevicePlan& plan_;
  Terminators terminators_;
  const RuleState& rule_state_;
  std::vector<Pass> passes_;
  std::size_t settled_;  // so many terminators have their sequences

  // The report of a rule that consumes nothing, as far as it was prepared.
  CompositeSink prepared_;
  std::vector<std::size_t> ends_;  // by prepared terminator: where its composites end

  // The members below belong to a rule that consumes.
  std::vector<Location> locations_;      // by terminator
  std::unique_ptr<RuleState> expected_;  // what this batch is taken to consume
  bool expects_any_ = false;  // whether a terminator gone through so far is expected to consume
  bool revoked_ = false;      // whether what was expected of one of them was taken back
  std::vector<std::uint32_t> unsettled_;  // terminators whose sequences do not stand
};

}  // namespace gorgo::engine
