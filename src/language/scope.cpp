#include "language/scope.hpp"

#include <algorithm>
#include <utility>

#include "language/foreign_words.hpp"
#include "language/joint_types.hpp"
#include "language/names.hpp"
#include "language/server_types.hpp"
#include "language/syntax.hpp"

namespace gorgo::language {

using ast::ExprKind;

namespace {

std::vector<ast::Name> types_of(const ast::Predicate& predicate) {
  return predicate.any_of.empty() ? std::vector{predicate.type} : predicate.any_of;
}

/// Those of the constants that stand in front of the place.
std::span<const ast::Name> in_front(const std::vector<ast::Name>& constants, Location at) {
  const auto behind = std::ranges::find_if(constants, [&](const ast::Name& constant) {
    return std::pair(constant.at.line, constant.at.column) > std::pair(at.line, at.column);
  });
  return {constants.begin(), behind};
}

}  // namespace

Scope::Scope(const ast::RuleDefinition& rule, const std::vector<ast::Name>& constants,
             TypeTable& types, Reporter& reporter)
    : constants_(in_front(constants, rule.at)) {
  if (const auto* timer = std::get_if<ast::Timer>(&rule.terminator)) {
    states_.push_back({{"Timer", timer->at}, kNoEntry, nullptr, false});
    by_name_.emplace("Timer", 0);
  } else {
    add_state(std::get<ast::Predicate>(rule.terminator), types, reporter);
  }
  for (const auto& clause : rule.clauses) {
    if (const auto* state = std::get_if<ast::StateClause>(&clause)) {
      add_state(state->predicate, types, reporter);
      if (!state->table) continue;
      states_.back().type = types.mention(rows_name(state->predicate.type.text));
      states_.back().table = true;
    }
  }
  for (const auto& clause : rule.clauses) {
    if (const auto* b = std::get_if<ast::AggregateBinding>(&clause)) add_total(*b, reporter);
  }
  for_each_outer(rule, [this](const auto& item) {
    if constexpr (std::is_same_v<std::decay_t<decltype(item)>, ast::Expr>) {
      number_aggregates(item);
    } else {
      numbers_.emplace(&item, aggregate_count());
    }
  });
}

void Scope::add_state(const ast::Predicate& predicate, TypeTable& types, Reporter& reporter) {
  const auto index = static_cast<std::uint32_t>(states_.size());
  const ast::Name& name = predicate.alias ? *predicate.alias : predicate.type;
  for (const ast::Name& type : types_of(predicate)) {
    if (!is_server_name(type.text)) check_name(type, "a type", reporter);
  }
  if (predicate.alias) check_name(name, "an alias", reporter);
  states_.push_back(
      {name, types.mention(predicate.type.text), &predicate, predicate.alias.has_value()});
  const auto [it, added] = by_name_.emplace(name.text, index);
  if (!added) {
    const State& other = states_[it->second];
    if (predicate.alias || other.aliased) {
      reporter.error(
          name.at,
          "a state named " + in_quotes(name.text) + " stands already at " + place(other.name.at),
          "give one of them another alias");
    } else {
      reporter.error(name.at, "a second state of type " + in_quotes(name.text) + " needs an alias",
                     predicate.any_of.empty()
                         ? "write `" + name.text + "(...) as " + name.text + "2`"
                         : "write `" + name.text + "(...) as Either`");
    }
  }
  bind_parameters(index);
}

void Scope::bind_parameters(std::uint32_t state) {
  for (const ast::Expr* condition : conjuncts(*states_[state].predicate)) {
    if (condition->kind != ExprKind::equal && condition->kind != ExprKind::bind) continue;
    const ast::Expr& left = condition->children[0];
    const ast::Expr& right = condition->children[1];
    if (left.kind != ExprKind::attribute || right.kind != ExprKind::parameter) continue;
    if (parameters_.emplace(right.name.text, Parameter{state, condition}).second) {
      bindings_.insert(condition);
    }
  }
}

void Scope::add_total(const ast::AggregateBinding& binding, Reporter& reporter) {
  const std::string& name = binding.parameter.text;
  const std::string shown = in_quotes("$" + name);
  if (const Parameter* parameter = find_parameter(name)) {
    reporter.error(binding.parameter.at,
                   shown + " is already bound by an attribute at " + place(parameter->binding->at),
                   "give the aggregate a name of its own");
  } else if (const auto [it, added] = totals_.emplace(name, &binding); !added) {
    reporter.error(binding.parameter.at,
                   shown + " already names the aggregate at " + place(it->second->parameter.at),
                   "give this aggregate a name of its own");
  }
}

void Scope::number_aggregates(const ast::Expr& expr) {
  if (expr.kind == ExprKind::aggregate) {
    numbers_.emplace(expr.aggregate.get(), aggregate_count());
    return;
  }
  for (const ast::Expr* operand : chain(expr)) {
    if (operand != &expr) {
      number_aggregates(*operand);
      continue;
    }
    for (const auto& child : expr.children) number_aggregates(child);
  }
}

std::optional<std::uint32_t> Scope::find_state(const std::string& name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? std::nullopt : std::optional(it->second);
}

const Scope::Parameter* Scope::find_parameter(const std::string& name) const {
  const auto it = parameters_.find(name);
  return it == parameters_.end() ? nullptr : &it->second;
}

const ast::AggregateBinding* Scope::find_total(const std::string& name) const {
  const auto it = totals_.find(name);
  return it == totals_.end() ? nullptr : it->second;
}

Resolution Scope::resolve(const ast::Expr& expr, const Context& context) const {
  if (expr.kind == ExprKind::state_attribute) return resolve_state(expr, context);
  if (expr.kind == ExprKind::parameter) return resolve_parameter(expr, context);
  if (context.own_type == kNoEntry) return Unresolved::bare_attribute;
  return Reference{kCandidate, context.own_type, expr.name.text};
}

Resolution Scope::resolve_state(const ast::Expr& expr, const Context& context) const {
  const auto state = find_state(expr.qualifier.text);
  if (!state) return Unresolved::unknown_state;
  const bool in_state = context.kind == Context::Kind::state;
  if (in_state && *state > context.state) return Unresolved::later_state;
  const bool own = in_state && *state == context.state;
  return Reference{own ? kCandidate : static_cast<std::int32_t>(*state), states_[*state].type,
                   expr.name.text};
}

Resolution Scope::resolve_parameter(const ast::Expr& expr, const Context& context) const {
  const bool outside =
      context.kind == Context::Kind::filter || context.kind == Context::Kind::where;
  if (const Parameter* parameter = find_parameter(expr.name.text)) {
    if (context.kind == Context::Kind::state && parameter->state > context.state) {
      return Unresolved::later_parameter;
    }
    return bound_by(*parameter, context);
  }
  const ast::AggregateBinding* total = find_total(expr.name.text);
  if (total == nullptr) return Unresolved::unknown_parameter;
  if (!outside) return Unresolved::aggregate_value;
  return total;
}

Reference Scope::bound_by(const Parameter& parameter, const Context& context) const {
  const bool own = context.kind == Context::Kind::state && parameter.state == context.state;
  return {own ? kCandidate : static_cast<std::int32_t>(parameter.state),
          states_[parameter.state].type, parameter.binding->children[0].name.text};
}

std::vector<std::string> Scope::state_names() const {
  std::vector<std::string> names;
  for (const State& state : states_) names.push_back(state.name.text);
  return names;
}

std::vector<std::string> Scope::parameter_names() const {
  std::vector<std::string> names;
  for (const auto& [name, parameter] : parameters_) names.push_back("$" + name);
  for (const auto& [name, total] : totals_) names.push_back("$" + name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> Scope::constant_names() const {
  std::vector<std::string> names;
  for (const ast::Name& constant : constants_) names.push_back(constant.text);
  return names;
}

void Scope::explain_bare_name(const ast::Expr& expr, Reporter& reporter) const {
  const std::string& name = expr.name.text;
  std::string hint = states_.size() == 1 ? "write " + in_quotes(states_[0].name.text + "." + name)
                                         : "write STATE." + name + ", where STATE is " +
                                               listing(state_names(), "or");
  if (find_state(name)) {
    hint = in_quotes(name) + " is a state; its attributes are written " +
           in_quotes(name + ".attribute");
  }
  const std::string foreign = hint_for_name(name);
  reporter.error(
      expr.at, show(expr) + " stands outside a predicate's brackets, so it needs a state",
      foreign.empty() ? reporter.suggest(name, constant_names(), std::move(hint)) : foreign);
}

void Scope::explain_unknown_state(const ast::Name& name, Reporter& reporter) const {
  if (reporter.full() || !first_report(name.text)) return;
  std::vector<std::string> of_type;
  for (const State& state : states_) {
    if (state.predicate != nullptr && state.predicate->type.text == name.text) {
      of_type.push_back(state.name.text);
    }
  }
  if (of_type.size() > 1) {
    return reporter.error(name.at,
                          in_quotes(name.text) + " is ambiguous: " + listing(of_type, "and") +
                              " are states of this type",
                          "name the state by its alias");
  }
  std::string message = "no state of this rule is named " + in_quotes(name.text);
  if (of_type.size() == 1) {
    return reporter.error(name.at, std::move(message),
                          "the state of this type is named " + in_quotes(of_type[0]));
  }
  const auto joint = std::ranges::find_if(states_, [&](const State& state) {
    return state.predicate != nullptr &&
           std::ranges::count(state.predicate->any_of, name.text, &ast::Name::text) > 0;
  });
  if (joint != states_.end()) {
    return reporter.error(
        name.at, std::move(message),
        joint->aliased ? "the state over several types is named " + in_quotes(joint->name.text)
                       : "give the state over several types a name: `" + joint->name.text +
                             "(...) as Either`");
  }
  const auto names = state_names();
  reporter.error(name.at, std::move(message),
                 reporter.suggest(name.text, names, "the states are " + listing(names, "and")));
}

void Scope::explain(Unresolved why, const ast::Expr& expr, Reporter& reporter) const {
  if (reporter.full()) return;
  const std::string shown = show(expr);
  switch (why) {
    case Unresolved::bare_attribute:
      return explain_bare_name(expr, reporter);
    case Unresolved::unknown_state:
      return explain_unknown_state(expr.qualifier, reporter);
    case Unresolved::later_state:
      reporter.error(expr.at, shown + " belongs to a state that comes later in the text",
                     "a state's conditions use earlier states and itself; test it in the later "
                     "state's brackets or in a filter");
      return;
    case Unresolved::unknown_parameter:
      if (!first_report(shown)) return;
      reporter.error(expr.at, "nothing binds the parameter " + shown,
                     reporter.suggest("$" + expr.name.text, parameter_names(),
                                      "a state binds it with the condition `attribute = $" +
                                          expr.name.text + "`, outside `or` and `not`"));
      return;
    case Unresolved::later_parameter: {
      const Parameter& parameter = *find_parameter(expr.name.text);
      reporter.error(
          expr.at,
          shown + " is used before it is bound: " + in_quotes(states_[parameter.state].name.text) +
              " binds it at " + place(parameter.binding->at),
          "bind it here with `attribute = " + ("$" + expr.name.text) +
              "`, or test it in the later state or in a filter");
      return;
    }
    case Unresolved::aggregate_value:
      reporter.error(expr.at,
                     shown +
                         " is the value of an aggregate, which is known only when the "
                         "sequence is complete",
                     "use it in filters and in `where`");
      return;
  }
}

}  // namespace gorgo::language
