#include <cmath>
#include <limits>
#include <utility>

#include "language/operators.hpp"
#include "language/rule_binder.hpp"
#include "language/syntax.hpp"

namespace gorgo::language {
namespace {

using ast::ExprKind;

/// A tree of `op` over all operands with logarithmic depth. Logic is two-valued and has no side
/// effects, so how the operands are grouped is free.
Expr balanced(Op op, std::vector<Expr> operands) {
  while (operands.size() > 1) {
    std::vector<Expr> pairs;
    for (std::size_t i = 0; i + 1 < operands.size(); i += 2) {
      std::vector<Expr> args;
      args.push_back(std::move(operands[i]));
      args.push_back(std::move(operands[i + 1]));
      pairs.push_back(make_operation(op, ValueType::boolean, std::move(args)));
    }
    if (operands.size() % 2 == 1) pairs.push_back(std::move(operands.back()));
    operands = std::move(pairs);
  }
  return std::move(operands.front());
}

bool same_kind(ValueType a, ValueType b) { return a == b || (is_number(a) && is_number(b)); }

}  // namespace

Expr make_operation(Op op, ValueType type, std::vector<Expr> args) {
  Expr expr;
  expr.op = op;
  expr.type = type;
  expr.args = std::move(args);
  return expr;
}

Expr make_constant(Value value) {
  Expr expr;
  expr.type = type_of(value);
  expr.constant = std::move(value);
  return expr;
}

Expr as_float(Expr expr) {
  if (expr.type == ValueType::floating) return expr;
  if (expr.op == Op::constant) {
    return make_constant(static_cast<double>(std::get<std::int64_t>(expr.constant)));
  }
  std::vector<Expr> args;
  args.push_back(std::move(expr));
  return make_operation(Op::to_float, ValueType::floating, std::move(args));
}

RuleBinder::Bound RuleBinder::bind_condition(const ast::Expr& expr, const Context& context) {
  Bound bound = bind_expr(expr, context);
  if (!bound || bound->type == ValueType::boolean) return bound;
  reporter_.error(expr.at,
                  show(expr) + " is " + std::string(gorgo::to_string(bound->type)) +
                      ", but a condition is needed here",
                  "compare it with something");
  return std::nullopt;
}

RuleBinder::Bound RuleBinder::bind_expr(const ast::Expr& expr, const Context& context) {
  Bound bound = bind_operator(expr, context);
  const bool comparison = is_comparison(expr.kind);  // its stated type is that of the left side
  if (expr.stated_type && !comparison && !check_stated_type(expr, *expr.stated_type, bound)) {
    return std::nullopt;
  }
  return bound;
}

RuleBinder::Bound RuleBinder::bind_operator(const ast::Expr& expr, const Context& context) {
  switch (expr.kind) {
    case ExprKind::literal:
    case ExprKind::duration:
      return make_constant(expr.value);
    case ExprKind::attribute:
    case ExprKind::state_attribute:
    case ExprKind::parameter:
      return bind_name(expr, context);
    case ExprKind::aggregate:
      return bind_aggregate_expr(expr, context);
    case ExprKind::negate:
      return bind_negate(expr, context);
    case ExprKind::bind:
      refuse_bind(expr, context);
      return std::nullopt;
    default:
      break;
  }
  if (is_arithmetic(expr.kind)) return bind_arithmetic(expr, context);
  if (is_comparison(expr.kind)) return bind_comparison(expr, context);
  return bind_logic(expr, context);
}

RuleBinder::Bound RuleBinder::bind_name(const ast::Expr& expr, const Context& context) {
  const Resolution resolution = scope_.resolve(expr, context);
  if (const auto* why = std::get_if<Unresolved>(&resolution)) {
    scope_.explain(*why, expr, reporter_);
    return std::nullopt;
  }
  Expr bound;
  if (const auto* total = std::get_if<const ast::AggregateBinding*>(&resolution)) {
    const auto type = type_of_aggregate(*(*total)->aggregate);
    if (!type) return std::nullopt;
    bound.op = Op::aggregate;
    bound.type = *type;
    bound.index = scope_.number_of((*total)->aggregate.get());
    return bound;
  }
  const auto& reference = std::get<Reference>(resolution);
  bound.source = reference.source;
  if (reference.is_time()) {
    bound.op = Op::timestamp;
    return bound;
  }
  const bool slip_is_here = expr.kind != ExprKind::parameter;
  const Location at = slip_is_here ? expr.name.at : expr.at;
  const auto index = attribute_index(reference.type, reference.attribute, at);
  if (!index) return std::nullopt;
  bound.op = Op::attribute;
  bound.index = *index;
  bound.type = types_.at(reference.type).type.attributes[*index].type;
  return bound;
}

RuleBinder::Bound RuleBinder::bind_aggregate_expr(const ast::Expr& expr, const Context& context) {
  if (context.kind != Context::Kind::filter && context.kind != Context::Kind::where) {
    reporter_.error(expr.at,
                    context.kind == Context::Kind::aggregate
                        ? "an aggregate cannot stand inside another one"
                        : "an aggregate cannot stand inside a predicate's brackets",
                    "use it in a filter clause of its own or in `where`");
    return std::nullopt;
  }
  bind_aggregate(*expr.aggregate, context.earlier);
  const auto type = type_of_aggregate(*expr.aggregate);
  if (!type) return std::nullopt;
  Expr bound;
  bound.op = Op::aggregate;
  bound.type = *type;
  bound.index = scope_.number_of(expr.aggregate.get());
  return bound;
}

bool RuleBinder::check_number(const ast::Expr& expr, const Bound& bound, ExprKind kind) {
  if (!bound) return false;
  if (is_number(bound->type)) return true;
  reporter_.error(expr.at,
                  show(expr) + " is " + std::string(gorgo::to_string(bound->type)) + ", but " +
                      in_quotes(spelling(kind)) + " needs numbers",
                  "there is no arithmetic on strings and bools");
  return false;
}

RuleBinder::Bound RuleBinder::bind_arithmetic(const ast::Expr& expr, const Context& context) {
  Bound left = bind_expr(expr.children[0], context);
  Bound right = bind_expr(expr.children[1], context);
  const bool left_fits = check_number(expr.children[0], left, expr.kind);
  const bool right_fits = check_number(expr.children[1], right, expr.kind);
  if (!left_fits || !right_fits) return std::nullopt;
  const bool floating = left->type == ValueType::floating || right->type == ValueType::floating;
  std::vector<Expr> args;
  args.push_back(floating ? as_float(std::move(*left)) : std::move(*left));
  args.push_back(floating ? as_float(std::move(*right)) : std::move(*right));
  return make_operation(op_of(expr.kind), floating ? ValueType::floating : ValueType::integer,
                        std::move(args));
}

RuleBinder::Bound RuleBinder::bind_negate(const ast::Expr& expr, const Context& context) {
  Bound operand = bind_expr(expr.children[0], context);
  if (!check_number(expr.children[0], operand, expr.kind)) return std::nullopt;
  if (operand->op == Op::constant) {
    if (const auto* number = std::get_if<double>(&operand->constant)) {
      return make_constant(-*number);
    }
    const auto number = std::get<std::int64_t>(operand->constant);
    if (number != std::numeric_limits<std::int64_t>::min()) return make_constant(-number);
  }
  const ValueType type = operand->type;
  std::vector<Expr> args;
  args.push_back(std::move(*operand));
  return make_operation(Op::negate, type, std::move(args));
}

RuleBinder::Bound RuleBinder::bind_comparison(const ast::Expr& expr, const Context& context) {
  const ast::Expr& left = expr.children[0];
  const ast::Expr& right = expr.children[1];
  Bound bound_left = bind_expr(left, context);
  Bound bound_right = bind_expr(right, context);
  if (expr.stated_type && !check_stated_type(left, *expr.stated_type, bound_left)) {
    return std::nullopt;
  }
  return compare(expr, expr.kind, left, std::move(bound_left), show(right), right.at,
                 std::move(bound_right));
}

RuleBinder::Bound RuleBinder::compare(const ast::Expr& at, ExprKind kind, const ast::Expr& left,
                                      Bound bound_left, std::string right_name, Location right_at,
                                      Bound bound_right) {
  if (!bound_left || !bound_right) return std::nullopt;
  const ValueType a = bound_left->type, b = bound_right->type;
  const auto side = [](const std::string& name, ValueType type, Location where) {
    return name + " (" + std::string(gorgo::to_string(type)) + ", " + place(where) + ")";
  };
  const bool text_only = kind == ExprKind::contains;
  if (!same_kind(a, b) || (text_only && a != ValueType::string)) {
    reporter_.error(at.at,
                    in_quotes(spelling(kind)) + " cannot compare " + side(show(left), a, left.at) +
                        " with " + side(right_name, b, right_at),
                    text_only ? "`contains` looks for one string in another"
                              : "both sides must be numbers, both strings or both bools");
    return std::nullopt;
  }
  const bool ordering = kind >= ExprKind::less && kind <= ExprKind::greater_equal;
  if (ordering && a == ValueType::boolean) {
    reporter_.error(at.at,
                    in_quotes(spelling(kind)) + " cannot compare bools: " +
                        side(show(left), a, left.at) + " and " + side(right_name, b, right_at),
                    "bools have no order; use `=` or `!=`");
    return std::nullopt;
  }
  std::vector<Expr> args;
  args.push_back(std::move(*bound_left));
  args.push_back(std::move(*bound_right));
  return make_operation(op_of(kind), ValueType::boolean, std::move(args));
}

RuleBinder::Bound RuleBinder::bind_logic(const ast::Expr& expr, const Context& context) {
  const bool negation = expr.kind == ExprKind::logical_not;
  std::vector<Expr> operands;
  bool complete = true;
  const auto children = negation ? std::vector<const ast::Expr*>{&expr.children[0]} : chain(expr);
  for (const ast::Expr* child : children) {
    Bound operand = bind_condition(*child, context);
    complete &= operand.has_value();
    if (operand) operands.push_back(std::move(*operand));
  }
  if (!complete || operands.empty()) return std::nullopt;
  if (!negation) return balanced(op_of(expr.kind), std::move(operands));
  return make_operation(Op::logical_not, ValueType::boolean, std::move(operands));
}

bool RuleBinder::check_stated_type(const ast::Expr& expr, ValueType stated, const Bound& bound) {
  if (!bound) return false;
  if (bound->type == stated) return true;
  reporter_.error(expr.at,
                  show(expr) + " is " + std::string(gorgo::to_string(bound->type)) + ", not " +
                      std::string(gorgo::to_string(stated)),
                  "the type in brackets is checked: correct it or leave it out");
  return false;
}

void RuleBinder::refuse_bind(const ast::Expr& expr, const Context& context) {
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

std::optional<std::uint32_t> RuleBinder::attribute_index(TypeIndex type, std::string_view name,
                                                         Location at) {
  if (type == kNoEntry) {
    reporter_.error(at, "a timer has no attribute " + in_quotes(name),
                    "it has only a time: `Timer.timestamp`");
    return std::nullopt;
  }
  const TypeEntry& entry = types_.at(type);
  if (entry.poisoned.contains(std::string(name))) return std::nullopt;
  const auto index = entry.find(name);
  if (!index && !reporter_.full() &&
      scope_.first_report(entry.type.name + "." + std::string(name))) {
    report_missing_attribute(type, name, at);
  }
  return index;
}

void RuleBinder::report_missing_attribute(TypeIndex type, std::string_view name, Location at) {
  const EventType& known = types_.at(type).type;
  if (known.origin == TypeOrigin::inferred) {
    const ValueType guess = inference_.guess(type, name);
    return reporter_.error(
        at,
        "the deployed rules imply " + declaration(known) +
            ", and a rule cannot add the attribute " + in_quotes(name),
        "remove these rules, and declare " + declaration_with(known, name, guess) + " before them");
  }
  std::vector<std::string> names;
  for (const auto& attribute : known.attributes) names.push_back(attribute.name);
  reporter_.error(at, "type " + in_quotes(known.name) + " has no attribute " + in_quotes(name),
                  reporter_.suggest(name, names, "it is " + declaration(known)));
}

}  // namespace gorgo::language
