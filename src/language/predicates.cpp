#include "language/predicates.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "language/literal.hpp"
#include "language/operations.hpp"
#include "language/syntax.hpp"

namespace gorgo::language {

Predicate PredicateBinder::bind_state(const ast::Predicate& predicate, std::uint32_t state) {
  return bind(predicate, {Context::Kind::state, scope_.states()[state].type, state});
}

Bound PredicateBinder::bind_key(const ast::Expr& attribute, std::uint32_t state) {
  Bound bound =
      expressions_.bind(attribute, {Context::Kind::state, scope_.states()[state].type, state});
  if (!bound || bound->op == Op::attribute) return bound;
  reporter_.error(attribute.at,
                  "`per` names attributes of the state's type, and " +
                      in_quotes(attribute.name.text) + " is none",
                  "write for example `last Temp(area = $a) per area within 1 h from Timer`");
  return std::nullopt;
}

std::vector<std::uint32_t> PredicateBinder::key_of_table(TypeIndex rows, const ast::Name& table) {
  const EventType& type = types_.at(rows).type;
  if (!type.table()) {
    const std::string& name = types_.at(types_.at(rows).members.front()).type.name;
    reporter_.error(table.at, in_quotes(name) + " is no table",
                    "declare it: `table " + name +
                        "(id: string key, ...);`, or read its events "
                        "within a window");
  }
  return type.key;
}

bool gives_key(const Expr& condition, std::uint32_t attribute) {
  if (condition.op != Op::equal) return false;
  const auto is_key = [&](const Expr& side) {
    return side.op == Op::attribute && side.source == kCandidate && side.index == attribute;
  };
  return (is_key(condition.args[0]) && !reads_candidate(condition.args[1])) ||
         (is_key(condition.args[1]) && !reads_candidate(condition.args[0]));
}

bool reads_candidate(const Expr& expr) {
  const bool reads = expr.op == Op::attribute || expr.op == Op::timestamp || expr.op == Op::present;
  return (reads && expr.source == kCandidate) ||
         std::ranges::any_of(expr.args, [](const Expr& arg) { return reads_candidate(arg); });
}

/// `not exists(Smoke)` reads like an absence, and would be one of events of a type `exists`.
void PredicateBinder::refuse_exists(const ast::Name& type) {
  const bool known = types_.at(*types_.find(type.text)).type.origin != TypeOrigin::inferred;
  if (known || lower_case(type.text) != "exists") return;
  reporter_.error(type.at, in_quotes(type.text) + " asks for a value, and is no type of an event",
                  "an absence is written `not Smoke() within 5 min from Fire`");
}

Predicate PredicateBinder::bind_nameless(const ast::Predicate& predicate, Context::Kind kind) {
  if (kind == Context::Kind::negation) refuse_exists(predicate.type);
  if (predicate.alias) {
    const std::string what = kind == Context::Kind::negation ? "a negation" : "an aggregate";
    reporter_.error(predicate.alias->at, what + " declares no name",
                    "leave out `as " + predicate.alias->text + "`; only states can be named");
  }
  return bind(predicate, {kind, *types_.find(predicate.type.text)});
}

Predicate PredicateBinder::bind(const ast::Predicate& predicate, const Context& context) {
  Predicate result;
  result.type = types_.at(context.own_type).type.id;
  std::vector<Expr> tests;
  for (const ast::Expr* condition : conjuncts(predicate)) {
    const bool binds = context.kind == Context::Kind::state && scope_.binds(condition);
    Bound bound = binds ? bind_presence(*condition, context)
                        : expressions_.bind_condition(*condition, context);
    if (bound) (binds ? result.conditions : tests).push_back(std::move(*bound));
  }
  for (Expr& test : tests) result.conditions.push_back(std::move(test));
  return result;
}

/// What `attribute = $p` asks of the state that binds `$p`: the attribute is there.
Bound PredicateBinder::bind_presence(const ast::Expr& condition, const Context& context) {
  const ast::Expr& attribute = condition.children[0];
  Bound bound = expressions_.bind(attribute, context);
  if (condition.stated_type) {
    bound = require_type(*condition.stated_type, {attribute, std::move(bound)}, reporter_);
  }
  if (!bound || bound->op == Op::timestamp) return std::nullopt;  // every event has a time
  bound->op = Op::present;
  bound->type = ValueType::boolean;
  return bound;
}

}  // namespace gorgo::language
