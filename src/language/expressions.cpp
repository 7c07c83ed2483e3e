#include "language/expressions.hpp"

#include <string>
#include <utility>
#include <vector>

#include "language/calls.hpp"
#include "language/syntax.hpp"

namespace gorgo::language {

using ast::ExprKind;

ExpressionBinder::ExpressionBinder(const Scope& scope, ReferenceBinder& references,
                                   Reporter& reporter, BindAggregate bind_aggregate)
    : scope_(scope),
      references_(references),
      reporter_(reporter),
      bind_aggregate_(std::move(bind_aggregate)) {}

Bound ExpressionBinder::bind_condition(const ast::Expr& expr, const Context& context) {
  return require_condition({expr, bind_stated(expr, context)}, reporter_);
}

Bound ExpressionBinder::bind(const ast::Expr& expr, const Context& context) {
  Bound bound = bind_stated(expr, context);
  return expr.bracketed && bound ? make_bracketed(std::move(*bound)) : std::move(bound);
}

Bound ExpressionBinder::bind_stated(const ast::Expr& expr, const Context& context) {
  Bound bound = bind_kind(expr, context);
  const bool comparison = is_comparison(expr.kind);  // its stated type is that of the left side
  if (!expr.stated_type || comparison) return bound;
  return require_type(*expr.stated_type, {expr, std::move(bound)}, reporter_);
}

Operand ExpressionBinder::operand(const ast::Expr& expr, const Context& context) {
  return {expr, bind(expr, context)};
}

Bound ExpressionBinder::bind_kind(const ast::Expr& expr, const Context& context) {
  switch (expr.kind) {
    case ExprKind::literal:
    case ExprKind::duration:
      return make_constant(expr.value);
    case ExprKind::attribute:
    case ExprKind::state_attribute:
    case ExprKind::parameter:
      return references_.bind(expr, context);
    case ExprKind::aggregate:
      return bind_aggregate(expr, context);
    case ExprKind::call:
      return bind_call(expr, context);
    case ExprKind::negate:
      return make_negative(operand(expr.children[0], context), reporter_);
    case ExprKind::bind:
      refuse_parameter(expr, context);
      return std::nullopt;
    default:
      break;
  }
  if (is_comparison(expr.kind)) return bind_comparison(expr, context);
  if (is_arithmetic(expr.kind)) return bind_arithmetic(expr, context);
  return bind_logic(expr, context);
}

Bound ExpressionBinder::bind_arithmetic(const ast::Expr& expr, const Context& context) {
  Operand left = operand(expr.children[0], context);
  Operand right = operand(expr.children[1], context);
  return make_arithmetic(expr.kind, std::move(left), std::move(right), reporter_);
}

Bound ExpressionBinder::bind_aggregate(const ast::Expr& expr, const Context& context) {
  if (context.kind != Context::Kind::filter && context.kind != Context::Kind::where) {
    reporter_.error(expr.at,
                    context.kind == Context::Kind::aggregate
                        ? "an aggregate cannot stand inside another one"
                        : "an aggregate cannot stand inside a predicate's brackets",
                    "use it in a filter clause of its own or in `where`");
    return std::nullopt;
  }
  bind_aggregate_(*expr.aggregate, context.earlier);
  return references_.value_of(*expr.aggregate);
}

Bound ExpressionBinder::bind_call(const ast::Expr& expr, const Context& context) {
  std::vector<Operand> arguments;
  for (const ast::Expr& argument : expr.children) arguments.push_back(operand(argument, context));
  return make_call(expr, std::move(arguments), reporter_);
}

Bound ExpressionBinder::bind_comparison(const ast::Expr& expr, const Context& context) {
  const ast::Expr& left = expr.children[0];
  const ast::Expr& right = expr.children[1];
  Bound bound_left = bind(left, context);
  Bound bound_right = bind(right, context);
  if (expr.stated_type) {
    bound_left = require_type(*expr.stated_type, {left, std::move(bound_left)}, reporter_);
  }
  return make_comparison(expr.kind, expr.at, {left, std::move(bound_left)},
                         {right, std::move(bound_right)}, reporter_);
}

Bound ExpressionBinder::bind_logic(const ast::Expr& expr, const Context& context) {
  std::vector<const ast::Expr*> children = chain(expr);
  if (expr.kind == ExprKind::logical_not) children = {&expr.children[0]};
  std::vector<Expr> conditions;
  bool complete = true;
  for (const ast::Expr* child : children) {
    Bound condition = bind_condition(*child, context);
    complete &= condition.has_value();
    if (condition) conditions.push_back(std::move(*condition));
  }
  if (!complete || conditions.empty()) return std::nullopt;
  return make_logic(expr.kind, std::move(conditions));
}

/// Reports a `=>` that binds nothing.
void ExpressionBinder::refuse_parameter(const ast::Expr& expr, const Context& context) {
  const std::string name = "$" + expr.children[1].name.text;
  const Scope::Parameter* bound = scope_.find_parameter(expr.children[1].name.text);
  if (context.kind == Context::Kind::state && bound != nullptr && bound->binding != &expr) {
    reporter_.error(
        expr.at,
        "`=>` binds, but " + in_quotes(name) + " is already bound at " + place(bound->binding->at),
        "write `=` to test it");
    return;
  }
  reporter_.error(expr.at, "nothing can be bound here, so `=>` has no meaning",
                  "only the conditions of states bind parameters, and not inside `or` and `not`; "
                  "write `=` to test " +
                      in_quotes(name));
}

}  // namespace gorgo::language
