#include <utility>

#include "language/rule_binder.hpp"
#include "language/syntax.hpp"

namespace gorgo::language {

Predicate RuleBinder::bind_predicate(const ast::Predicate& predicate, const Context& context) {
  Predicate result;
  result.type = types_.at(context.own_type).type.id;
  std::vector<Expr> tests;
  for (const ast::Expr* condition : conjuncts(predicate)) {
    const bool binds = context.kind == Context::Kind::state && scope_.binds(condition);
    Bound bound = binds ? bind_presence(*condition, context) : bind_condition(*condition, context);
    if (bound) (binds ? result.conditions : tests).push_back(std::move(*bound));
  }
  for (Expr& test : tests) result.conditions.push_back(std::move(test));
  return result;
}

/// What `attribute = $p` asks of the state that binds `$p`: the attribute is there.
RuleBinder::Bound RuleBinder::bind_presence(const ast::Expr& condition, const Context& context) {
  const ast::Expr& attribute = condition.children[0];
  Bound bound = bind_expr(attribute, context);
  if (condition.stated_type && !check_stated_type(attribute, *condition.stated_type, bound)) {
    return std::nullopt;
  }
  if (!bound || bound->op == Op::timestamp) return std::nullopt;  // every event has a time
  bound->op = Op::present;
  bound->type = ValueType::boolean;
  return bound;
}

void RuleBinder::bind_aggregate(const ast::AggregateCall& call, std::uint32_t earlier) {
  Aggregate& aggregate = rule_.aggregates[scope_.number_of(&call)];
  Context context{Context::Kind::aggregate, *types_.find(call.predicate.type.text)};
  context.earlier = earlier;
  aggregate.function = call.function;
  check_no_alias(call.predicate, "an aggregate");
  aggregate.predicate = bind_predicate(call.predicate, context);
  aggregate.span = bind_span(call.span, earlier);
  if (call.span.kind == SpanKind::after) {
    reporter_.error(call.span.at, "an aggregate cannot look forward with `after`",
                    "use `within ... from` or `between ... and`; only absence (`not`) can wait "
                    "for what follows the terminator");
  }
  bind_aggregate_attribute(call, aggregate);
  if (const auto type = type_of_aggregate(call)) aggregate.type = *type;
}

void RuleBinder::bind_aggregate_attribute(const ast::AggregateCall& call, Aggregate& aggregate) {
  const std::string function(to_string(call.function));
  if (!call.attribute) {
    if (call.function == AggregateFunction::count) return;
    return reporter_.error(call.at, in_quotes(function) + " needs an attribute",
                           "write " + function + "(" + call.predicate.type.text +
                               "(...).ATTRIBUTE ...); only COUNT does without");
  }
  if (call.attribute->text == "timestamp") {
    return reporter_.error(call.attribute->at, "`timestamp` cannot be aggregated",
                           "aggregates read attributes");
  }
  const TypeIndex type = *types_.find(call.predicate.type.text);
  aggregate.attribute = attribute_index(type, call.attribute->text, call.attribute->at);
  if (!aggregate.attribute || call.function == AggregateFunction::count) return;
  const ValueType value = types_.at(type).type.attributes[*aggregate.attribute].type;
  if (is_number(value)) return;
  reporter_.error(call.attribute->at,
                  in_quotes(function) + " needs numbers, but " + in_quotes(call.attribute->text) +
                      " of " + in_quotes(call.predicate.type.text) + " is " +
                      std::string(gorgo::to_string(value)),
                  "only COUNT takes any attribute");
}

/// Reports nothing: `bind_aggregate` does.
std::optional<ValueType> RuleBinder::type_of_aggregate(const ast::AggregateCall& call) {
  if (call.function == AggregateFunction::count) return ValueType::integer;
  const TypeEntry& entry = types_.at(*types_.find(call.predicate.type.text));
  if (!call.attribute || entry.poisoned.contains(call.attribute->text)) return std::nullopt;
  const auto index = entry.find(call.attribute->text);
  if (!index || !is_number(entry.type.attributes[*index].type)) return std::nullopt;
  if (call.function == AggregateFunction::avg) return ValueType::floating;
  return entry.type.attributes[*index].type;
}

}  // namespace gorgo::language
