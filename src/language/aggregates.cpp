#include "language/aggregates.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "language/aggregate_names.hpp"
#include "language/operations.hpp"
#include "language/syntax.hpp"
#include "language/types.hpp"

namespace gorgo::language {

AggregateBinder::AggregateBinder(const Scope& scope, ReferenceBinder& references,
                                 ExpressionBinder& expressions, PredicateBinder& predicates,
                                 WindowBinder& windows, Reporter& reporter)
    : scope_(scope),
      references_(references),
      expressions_(expressions),
      predicates_(predicates),
      windows_(windows),
      reporter_(reporter),
      aggregates_(scope.aggregate_count()) {}

void AggregateBinder::bind(const ast::AggregateCall& call, std::uint32_t earlier) {
  Aggregate& aggregate = aggregates_[scope_.number_of(&call)];
  aggregate.function = call.function;
  aggregate.percent = call.percent;
  const std::size_t errors = reporter_.errors();
  aggregate.predicate = predicates_.bind_nameless(call.predicate, Context::Kind::aggregate);
  if (call.lookup && reporter_.errors() > errors)
    return;  // conditions that were not bound are missed
  if (call.lookup) return bind_lookup(call, aggregate);
  aggregate.span = windows_.bind(call.span, earlier);
  (call.span.of_all ? aggregate.among : aggregate.newest) = windows_.newest(call.span);
  if (call.span.kind == SpanKind::after) {
    reporter_.error(call.span.at, "an aggregate cannot look forward with `after`",
                    "use `within ... from` or `between ... and`; only absence (`not`) can wait "
                    "for what follows the terminator");
  }
  aggregate.attribute = bind_attribute(call);
  if (const Bound value = references_.value_of(call)) aggregate.type = value->type;
}

/// A look-up is LAST over all rows of the key that were placed before the terminator.
void AggregateBinder::bind_lookup(const ast::AggregateCall& call, Aggregate& aggregate) {
  aggregate.span.table = true;
  aggregate.span.width = std::numeric_limits<Duration>::max();
  const TypeIndex rows = references_.type_of(call);
  const auto key = predicates_.key_of_table(rows, call.predicate.type);
  const auto& conditions = aggregate.predicate.conditions;
  const bool is_given = std::ranges::all_of(key, [&](std::uint32_t attribute) {
    return std::ranges::any_of(
        conditions, [&](const Expr& condition) { return gives_key(condition, attribute); });
  });
  if (!key.empty() && (!is_given || conditions.size() != key.size())) {
    reporter_.error(
        call.at, "a look-up gives a value for each attribute of the key and nothing else",
        "make the row a state to say more about it: `and " + call.predicate.type.text + "(...)`");
  }
  aggregate.attribute = bind_attribute(call);
  if (const Bound value = references_.value_of(call)) aggregate.type = value->type;
}

std::optional<std::uint32_t> AggregateBinder::bind_attribute(const ast::AggregateCall& call) {
  const std::string function(to_string(call.function));
  const std::string& type = call.predicate.type.text;
  const bool counts = call.function == AggregateFunction::count;
  if (!call.attribute) {
    if (counts) return std::nullopt;
    reporter_.error(
        call.at, in_quotes(function) + " needs an attribute",
        "write " + function + "(" + type + "(...).ATTRIBUTE ...); only COUNT does without");
    return std::nullopt;
  }
  if (call.attribute->text == "timestamp") {
    reporter_.error(call.attribute->at, "`timestamp` cannot be aggregated",
                    "aggregates read attributes");
    return std::nullopt;
  }
  const Bound attribute = references_.attribute_of(call);
  if (!attribute) return std::nullopt;
  if (!takes_any_type(call.function) && !is_number(attribute->type)) {
    reporter_.error(call.attribute->at,
                    in_quotes(function) + " needs numbers, but " + in_quotes(call.attribute->text) +
                        " of " + in_quotes(type) + " is " +
                        std::string(gorgo::to_string(attribute->type)),
                    aggregate_names(takes_any_type) + " take any attribute");
  }
  return attribute->index;
}

Bound AggregateBinder::bind_total(const ast::AggregateBinding& binding, std::uint32_t earlier) {
  const ast::AggregateCall& call = *binding.aggregate;
  Bound left;
  if (binding.left) {
    left = expressions_.bind(*binding.left, {Context::Kind::filter, kNoEntry, 0, earlier});
  }
  bind(call, earlier);
  required_.push_back(scope_.number_of(&call));
  if (!binding.left) return std::nullopt;
  if (binding.comparison == ast::ExprKind::equal) {
    reporter_.error(binding.at, "`=` cannot stand before `$" + binding.parameter.text + " = ...`",
                    "bind the aggregate in a clause of its own and compare it in a filter");
    return std::nullopt;
  }
  ast::Expr total;
  total.kind = ast::ExprKind::parameter;
  total.name = binding.parameter;
  total.at = binding.parameter.at;
  return make_comparison(binding.comparison, binding.at, {*binding.left, std::move(left)},
                         {total, references_.value_of(call)}, reporter_);
}

void AggregateBinder::give(Rule& rule) {
  rule.aggregates = std::move(aggregates_);
  rule.required = std::move(required_);
}

}  // namespace gorgo::language
