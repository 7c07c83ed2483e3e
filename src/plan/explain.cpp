#include "plan/explain.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "language/joint_types.hpp"
#include "language/rule_text.hpp"
#include "plan/strata.hpp"

namespace gorgo::plan {
namespace {

/// Thousands of rules may share a column.
constexpr std::size_t kMostNames = 8;

/// By column: the rules that use it, in their order.
using ColumnUsers = std::map<std::string, std::vector<std::string>>;

/// Calls `f` for every scan that a search carries out: nothing searches for terminators, nor for
/// what panes have added up.
template <class F>
void for_each_scan(const Plan& plan, F&& f) {
  for (std::size_t i = 1; i < plan.states.size(); ++i) f(plan.states[i].scan);
  for (const Scan& scan : plan.negations) f(scan);
  for (const AggregatePlan& aggregate : plan.aggregates) {
    if (aggregate.panes == 0) f(aggregate.scan);
  }
}

ColumnUsers users_of_columns(std::span<const Plan* const> plans) {
  ColumnUsers users;
  for (const Plan* plan : plans) {
    for_each_scan(*plan, [&](const Scan& scan) {
      auto& rules = users[std::string(std::string_view(scan.column.key))];
      if (rules.empty() || rules.back() != plan->rule.name) rules.push_back(plan->rule.name);
    });
  }
  return users;
}

class Explainer {
 public:
  Explainer(const Plan& plan, const Schema& schema, const ColumnUsers& users)
      : plan_(plan), rule_(plan.rule), schema_(schema), text_(plan.rule, schema), users_(users) {}

  RuleExplanation rule() const {
    RuleExplanation result;
    result.name = rule_.name;
    result.at = rule_.at;
    result.declaration = declaration_of(schema_.at(rule_.type));
    result.engine = rule_.options.engine;
    if (rule_.timer) result.timer = text_.timer();
    pattern(result);
    for (const Filter& filter : rule_.filters) {
      result.filters.push_back(text_.expr(filter.condition, kNoType));
    }
    for (std::uint32_t i = 0; i < rule_.assignments.size(); ++i) {
      result.assignments.push_back(text_.attribute(rule_.type, i) + " = " +
                                   text_.expr(rule_.assignments[i], kNoType));
    }
    result.order = text_.order();
    result.limit = rule_.limit;
    result.at_most = text_.at_most();
    for (const std::uint32_t state : rule_.consuming) {
      result.consuming.push_back(text_.state(state));
    }
    for (const Action& action : rule_.actions) result.actions.push_back(action.text());
    for (const auto& [type, reach] : plan_.reach) {
      if (schema_.at(type).name.empty()) continue;  // timers
      result.reach.push_back(
          text_.type(type) + " " +
          (schema_.at(type).table() ? "the newest row of each key" : language::length_text(reach)));
    }
    return result;
  }

 private:
  void pattern(RuleExplanation& result) const {
    for (std::size_t i = 0; i < rule_.states.size(); ++i) {
      const State& state = rule_.states[i];
      result.states.push_back({.name = state.name,
                               .selection = i == 0 ? terminator() : selection(state),
                               .window = i == 0 ? "" : text_.window(state),
                               .scan = scan(plan_.states[i].scan)});
    }
    for (std::size_t i = 0; i < rule_.negations.size(); ++i) {
      const Negation& negation = rule_.negations[i];
      result.negations.push_back({.type = text_.type(negation.predicate.type),
                                  .span = text_.span(negation.span),
                                  .completed_at = {},
                                  .scan = scan(plan_.negations[i])});
      if (negation.span.kind != SpanKind::after) {
        result.negations.back().completed_at = text_.state(negation.completed_at);
      }
    }
    if (plan_.deadline) result.deadline = language::length_text(*plan_.deadline);
    aggregates(result);
  }

  std::string terminator() const {
    return rule_.every ? "terminator, " + text_.every() : "terminator";
  }

  std::string selection(const State& state) const {
    const std::string keys = text_.keys(state);
    return language::selection_text(state) + (keys.empty() ? "" : " " + keys);
  }

  void aggregates(RuleExplanation& result) const {
    for (std::uint32_t i = 0; i < rule_.aggregates.size(); ++i) {
      const bool required =
          std::find(rule_.required.begin(), rule_.required.end(), i) != rule_.required.end();
      result.aggregates.push_back({.name = "$" + std::to_string(i),
                                   .call = text_.aggregate(rule_.aggregates[i]),
                                   .type = std::string(to_string(rule_.aggregates[i].type)),
                                   .required = required,
                                   .panes = plan_.aggregates[i].panes,
                                   .scan = scan(plan_.aggregates[i].scan)});
    }
  }

  ScanExplanation scan(const Scan& scan) const {
    ScanExplanation result;
    const TypeId type = scan.column.type;
    const auto spell = [&](const Expr& e) { return text_.expr(e, type); };
    bool is_searched = false;
    for_each_scan(plan_, [&](const Scan& searched) { is_searched |= &searched == &scan; });
    if (is_searched) {
      const auto& conditions = scan.column.conditions;
      result.column = text_.predicate({type, {conditions.begin(), conditions.end()}});
      const auto& users = users_.at(std::string(std::string_view(scan.column.key)));
      result.shared_by = users.size() - 1;
      for (const std::string& user : users) {
        if (result.shared_with.size() == kMostNames) break;
        if (user != rule_.name) result.shared_with.push_back(user);
      }
    }
    for (const Expr& condition : scan.column.conditions) {
      if (condition.op == Op::present) {
        result.binds.push_back(text_.attribute(type, condition.index));
      } else {
        result.constant.push_back(spell(condition));
      }
    }
    for (const Comparison& comparison : scan.comparisons) {
      auto& list = comparison.op == Op::equal ? result.equality : result.range;
      list.push_back(spell(as_expr(comparison)));
    }
    for (const Expr& condition : scan.residual) result.residual.push_back(spell(condition));
    for (const Expr& condition : scan.guards) result.guards.push_back(spell(condition));
    return result;
  }

  static Expr as_expr(const Comparison& comparison) {
    Expr result;
    result.op = comparison.op;
    result.type = ValueType::boolean;
    result.args = {comparison.subject, comparison.operand};
    return result;
  }

  const Plan& plan_;
  const Rule& rule_;
  const Schema& schema_;
  const language::RuleText text_;
  const ColumnUsers& users_;
};

std::vector<TypeExplanation> explain_types(std::span<const Plan* const> plans,
                                           const Schema& schema) {
  std::set<std::string> names;
  for (const Plan* plan : plans) {
    names.insert(schema.at(plan->rule.type).name);
    for (const auto& [type, reach] : plan->reach) {
      const EventType& read = schema.at(type);
      if (!read.joint()) names.insert(read.name);
      for (const JointMember& member : read.members) names.insert(schema.at(member.type).name);
    }
  }
  names.erase("");  // the type of timers
  std::vector<TypeExplanation> types;
  for (const std::string& name : names) {
    const EventType& type = *schema.find(name);
    const EventType* const rows = schema.find(language::rows_name(name));
    types.push_back({declaration_of(rows == nullptr ? type : *rows), type.origin});
  }
  return types;
}

}  // namespace

Explanation explain(std::span<const Plan* const> plans, const Schema& schema) {
  Explanation result;
  const Strata strata = stratify(plans, schema.size());
  const ColumnUsers users = users_of_columns(plans);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    result.rules.push_back(Explainer(*plans[i], schema, users).rule());
    result.rules.back().stratum = strata.rules[i];
  }
  result.types = explain_types(plans, schema);
  for (const Cycle& cycle : strata.cycles) {
    const auto way = way_round(plans_of(cycle, plans));
    auto& names = result.cycles.emplace_back();
    for (const TypeId type : way) names.push_back(schema.at(type).name);
    names.push_back(names.front());
  }
  return result;
}

RuleExplanation explain(const Plan& plan, const Schema& schema) {
  const Plan* const alone[] = {&plan};
  return Explainer(plan, schema, users_of_columns(alone)).rule();
}

std::string_view to_string(TypeOrigin origin) {
  switch (origin) {
    case TypeOrigin::declared:
      return "declared";
    case TypeOrigin::composite:
      return "composite";
    case TypeOrigin::inferred:
      return "inferred";
    case TypeOrigin::internal:
      return "internal";
  }
  return "";
}

}  // namespace gorgo::plan
