#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dispatch/rules/placement.hpp"
#include "dispatch/rules/rule_base.hpp"
#include "dispatch/rules/throttle.hpp"
#include "engine/rule_state.hpp"
#include "history/history.hpp"
#include "plan/plan.hpp"

namespace gorgo::dispatch {

/// A rule in force.
struct DeployedRule {
  std::shared_ptr<const plan::Plan> plan;  ///< null: the place of a rule that was removed
  std::shared_ptr<const RuleText> text;    ///< that it stands in
  std::uint64_t serial = 0;                ///< its number among all rules ever deployed
  Placement placement;
  history::ColumnId terminator_column = 0;  ///< of the events that begin an evaluation
  bool has_timer = false;
  engine::RuleState state;
  Throttle throttle;
  std::shared_ptr<const history::Column> terminators;  ///< holding it keeps the column up to date
  history::Slot first_terminator = 0;  ///< events stored before it came before the rule
  std::uint64_t events_before = 0;     ///< of the types that it reads, stored before it came

  bool is_removed() const { return plan == nullptr; }
  const Rule& rule() const { return plan->rule; }
  /// Whether the absences that the rule demands after its terminator hold for a sequence.
  bool is_absent(std::span<const history::EventRef> sequence) const;
  bool sees(Timestamp timestamp) const {
    return !state.deployed_at || timestamp > *state.deployed_at;
  }
};

}  // namespace gorgo::dispatch
