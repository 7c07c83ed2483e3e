#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "gorgo/diagnostics.hpp"
#include "gorgo/schema.hpp"
#include "history/history.hpp"
#include "plan/plan.hpp"

namespace gorgo::dispatch {

/// A rule in force.
struct DeployedRule {
  std::shared_ptr<const plan::Plan> plan;
  const engine::Engine* engine = nullptr;
  engine::RuleState state;
  std::unique_ptr<engine::Evaluator> evaluator;
  std::uint32_t level = 0;  ///< stratum: every rule that feeds it has a lower one

  const Rule& rule() const { return plan->rule; }
};

/// The deployed rules in rule order, the schema they share, and the strata they form. Changes as a
/// whole or not at all, and keeps the history's types and columns in step.
class RuleSet {
 public:
  explicit RuleSet(std::string default_engine) : default_engine_(std::move(default_engine)) {}

  /// `clock`: the largest released timestamp, which the new rules do not look behind.
  Diagnostics deploy(const std::string& name, const std::string& text, bool replace,
                     std::optional<Timestamp> clock, history::History& history);
  Result<void> remove(std::string_view rule, history::History& history);
  Result<void> declare(const std::string& name, std::vector<AttributeType> attributes);

  const Schema& schema() const { return schema_; }
  std::vector<DeployedRule>& rules() { return rules_; }
  const std::vector<DeployedRule>& rules() const { return rules_; }

  /// Full names, in rule order.
  std::span<const std::string> names() const { return names_; }

  /// Strata: a type's events are complete when every rule of a lower level has run.
  std::uint32_t level_of(TypeId type) const { return type_levels_[type]; }
  std::uint32_t levels() const { return levels_; }
  /// Whether some rule produces events of the type.
  bool is_produced(TypeId type) const { return type_levels_[type] > 0; }

 private:
  std::size_t find(std::string_view rule) const;
  void settle(history::History& history);

  std::string default_engine_;
  Schema schema_;
  std::vector<DeployedRule> rules_;
  std::vector<std::string> names_;
  std::vector<std::uint32_t> type_levels_;  // by TypeId
  std::uint32_t levels_ = 1;
};

}  // namespace gorgo::dispatch
