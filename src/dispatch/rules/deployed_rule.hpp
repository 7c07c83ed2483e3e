#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "dispatch/rules/placement.hpp"
#include "dispatch/rules/rule_base.hpp"
#include "dispatch/rules/throttle.hpp"
#include "engine/rule_state.hpp"
#include "history/history.hpp"
#include "plan/plan.hpp"

namespace gorgo::dispatch {

/// A rule in force. What each evaluation reads stands in front.
struct DeployedRule {
  std::shared_ptr<const plan::Plan> plan;   ///< null: the place of a rule that was removed
  history::ColumnId terminator_column = 0;  ///< of the events that begin an evaluation
  bool has_timer = false;
  bool has_every = false;
  engine::RuleState state;
  Placement placement;
  std::uint64_t serial = 0;              ///< its number among all rules ever deployed
  std::shared_ptr<const RuleText> text;  ///< that it stands in
  Throttle throttle;
  std::shared_ptr<const history::Column> terminators;  ///< holding it keeps the column up to date
  history::Slot first_terminator = 0;  ///< events stored before it came before the rule
  std::uint64_t events_before = 0;     ///< of the types that it reads, stored before it came

  /// Without a plan: an empty place.
  DeployedRule(std::shared_ptr<const plan::Plan> rule_plan, std::shared_ptr<const RuleText> of,
               Placement where)
      : plan(std::move(rule_plan)),
        state(plan == nullptr ? no_rule() : plan->rule),
        placement(std::move(where)),
        text(std::move(of)) {}

  bool is_removed() const { return plan == nullptr; }
  const Rule& rule() const { return plan->rule; }
  /// Fetches what each evaluation reads of it, and then of what it refers to; hints.
  void prefetch() const;
  void prefetch_parts() const { plan->prefetch(); }
  /// Whether the absences that the rule demands after its terminator hold for a sequence.
  bool is_absent(std::span<const history::EventRef> sequence) const;
  /// Has the aggregates with panes that are about this type add the events from the slot `first`
  /// on.
  void add_to_panes(TypeId type, const history::EventStore& store, history::Slot first);
  /// Has them forget what no later instant needs.
  void forget_panes(Timestamp clock);
  bool sees(Timestamp timestamp) const {
    return !state.deployed_at || timestamp > *state.deployed_at;
  }

 private:
  static const Rule& no_rule() {
    static const Rule none;
    return none;
  }
};

}  // namespace gorgo::dispatch
