#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/placement.hpp"
#include "dispatch/throttle.hpp"
#include "engine/engine.hpp"
#include "gorgo/diagnostics.hpp"
#include "gorgo/processor.hpp"
#include "gorgo/schema.hpp"
#include "history/history.hpp"
#include "plan/plan.hpp"
#include "plan/strata.hpp"

namespace gorgo::dispatch {

/// A rule in force.
struct DeployedRule {
  std::shared_ptr<const plan::Plan> plan;
  Placement placement;
  history::ColumnId terminator_column = 0;  ///< of the events that begin an evaluation
  std::uint32_t level = 0;    ///< stratum: every rule that feeds it has a lower one, cycles aside
  bool closes_cycle = false;  ///< runs root by root, with the other rules of its cycle
  bool has_timer = false;
  engine::RuleState state;
  Throttle throttle;
  std::shared_ptr<const history::Column> terminators;  ///< keeps its column up to date
  history::Slot first_terminator = 0;  ///< what is stored before came before the rule

  const Rule& rule() const { return plan->rule; }
  bool sees(Timestamp timestamp) const {
    return !state.deployed_at || timestamp > *state.deployed_at;
  }
};

/// The deployed rules in rule order, the schema they share, and the strata they form. Changes as a
/// whole or not at all, and keeps the history's types and columns in step.
class RuleSet {
 public:
  /// `max_late`: how far behind the clock terminators may be, in nanoseconds.
  RuleSet(std::string default_engine, Duration max_late)
      : default_engine_(std::move(default_engine)), max_late_(max_late) {}

  /// `clock`: the largest released timestamp, which the new rules do not look behind; with history,
  /// they look behind it as far as all the types that they read were kept.
  Diagnostics deploy(const std::string& name, const std::string& text, const DeployOptions& options,
                     std::optional<Timestamp> clock, history::History& history);
  /// The rule of this full name, or an error that names close ones. Valid until the next change.
  Result<const DeployedRule*> at(std::string_view rule) const;
  Result<void> remove(std::string_view rule, history::History& history);
  Result<void> declare(const std::string& name, std::vector<AttributeType> attributes);

  const Schema& schema() const { return schema_; }
  std::vector<DeployedRule>& rules() { return rules_; }
  const std::vector<DeployedRule>& rules() const { return rules_; }

  /// Has the rule run on this engine, or, with "auto", where it costs least. Changes nothing but
  /// when it is evaluated where. An error: there is no such rule or engine, or the engine cannot
  /// evaluate the rule.
  Result<void> pin(std::string_view rule, std::string_view engine, history::History& history);
  /// Changes with the rules.
  std::uint64_t generation() const { return generation_; }

  /// Full names, in rule order.
  std::span<const std::string> names() const { return names_; }

  /// The rules that have a timer or a deadline.
  std::span<const std::uint32_t> temporal_rules() const { return temporal_rules_; }

  std::span<const std::uint32_t> consuming_rules() const { return consuming_rules_; }

  /// Strata: a type's events are complete when every rule of a lower level has run.
  std::uint32_t level_of(TypeId type) const { return types_[type].level; }
  std::uint32_t levels() const { return levels_; }
  /// The rules whose terminators are the events of a column, ascending.
  std::span<const std::uint32_t> rules_of(history::ColumnId column) const {
    if (column >= rules_of_.size()) return {};
    return rules_of_[column];
  }
  /// Whether some rule produces events of the type.
  bool is_produced(TypeId type) const { return types_[type].produced; }
  bool in_cycle(TypeId type) const { return types_[type].in_cycle; }
  std::span<const plan::Cycle> cycles() const { return cycles_; }

 private:
  std::size_t find(std::string_view rule) const;
  void settle(history::History& history);

  std::optional<Timestamp> horizon(const plan::Plan& plan, std::optional<Timestamp> clock,
                                   const history::History& history) const;

  struct TypeInfo {
    std::uint32_t level = 0;
    bool produced = false;
    bool in_cycle = false;
  };

  std::string default_engine_;
  Duration max_late_;
  Schema schema_;
  std::vector<DeployedRule> rules_;
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> places_;  // of the rules, by name
  std::vector<std::uint32_t> temporal_rules_;
  std::vector<std::uint32_t> consuming_rules_;
  std::vector<TypeInfo> types_{1};                    // by TypeId
  std::vector<std::vector<std::uint32_t>> rules_of_;  // by ColumnId
  std::vector<plan::Cycle> cycles_;
  std::uint32_t levels_ = 1;
  std::uint64_t generation_ = 0;
};

}  // namespace gorgo::dispatch
