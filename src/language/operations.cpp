#include "language/operations.hpp"

#include <limits>
#include <string>
#include <utility>

#include "language/operators.hpp"
#include "language/syntax.hpp"
#include "language/types.hpp"

namespace gorgo::language {
namespace {

using ast::ExprKind;

std::string name_of(ValueType type) { return std::string(gorgo::to_string(type)); }

bool check_number(const Operand& operand, ExprKind kind, Reporter& reporter) {
  if (!operand.bound) return false;
  if (is_number(operand.bound->type)) return true;
  reporter.error(operand.written.at,
                 show(operand.written) + " is " + name_of(operand.bound->type) + ", but " +
                     in_quotes(spelling(kind)) + " needs numbers",
                 operand.bound->type == ValueType::string && kind == ExprKind::add
                     ? "strings are joined by `concat(a, b)`"
                     : "there is no arithmetic on strings and bools");
  return false;
}

bool same_kind(ValueType a, ValueType b) { return a == b || (is_number(a) && is_number(b)); }

/// How messages on a comparison show one of its sides.
std::string side(const Operand& operand) {
  return show(operand.written) + " (" + name_of(operand.bound->type) + ", " +
         place(operand.written.at) + ")";
}

/// Whether a time is compared with a literal of a string.
bool is_instant(const Operand& left, const Operand& right) {
  const auto is_time = [](const Operand& side) { return side.bound->op == Op::timestamp; };
  const auto is_text = [](const Operand& side) {
    return side.bound->op == Op::constant && side.bound->type == ValueType::string;
  };
  return (is_time(left) && is_text(right)) || (is_text(left) && is_time(right));
}

bool check_comparable(ExprKind kind, Location at, const Operand& left, const Operand& right,
                      Reporter& reporter) {
  const ValueType type = left.bound->type;
  const bool text_only = kind == ExprKind::contains;
  if (!same_kind(type, right.bound->type) || (text_only && type != ValueType::string)) {
    reporter.error(
        at, in_quotes(spelling(kind)) + " cannot compare " + side(left) + " with " + side(right),
        text_only                 ? "`contains` looks for one string in another"
        : is_instant(left, right) ? "an instant is written `time(\"2026-03-29T01:00:00Z\")`"
                                  : "both sides must be numbers, both strings or both bools");
    return false;
  }
  const bool ordering = kind >= ExprKind::less && kind <= ExprKind::greater_equal;
  if (!ordering || type != ValueType::boolean) return true;
  reporter.error(
      at,
      in_quotes(spelling(kind)) + " cannot compare bools: " + side(left) + " and " + side(right),
      "bools have no order; use `=` or `!=`");
  return false;
}

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

}  // namespace

Bound make_arithmetic(ExprKind kind, Operand left, Operand right, Reporter& reporter) {
  const bool left_fits = check_number(left, kind, reporter);
  const bool right_fits = check_number(right, kind, reporter);
  if (!left_fits || !right_fits) return std::nullopt;
  const bool floating =
      left.bound->type == ValueType::floating || right.bound->type == ValueType::floating;
  std::vector<Expr> args;
  args.push_back(floating ? as_float(std::move(*left.bound)) : std::move(*left.bound));
  args.push_back(floating ? as_float(std::move(*right.bound)) : std::move(*right.bound));
  return make_operation(op_of(kind), floating ? ValueType::floating : ValueType::integer,
                        std::move(args));
}

Bound make_negative(Operand operand, Reporter& reporter) {
  if (!check_number(operand, ExprKind::negate, reporter)) return std::nullopt;
  Expr& value = *operand.bound;
  if (value.op == Op::constant) {
    if (const auto* number = std::get_if<double>(&value.constant)) return make_constant(-*number);
    const auto number = std::get<std::int64_t>(value.constant);
    if (number != std::numeric_limits<std::int64_t>::min()) return make_constant(-number);
  }
  const ValueType type = value.type;
  std::vector<Expr> args;
  args.push_back(std::move(value));
  return make_operation(Op::negate, type, std::move(args));
}

Bound make_comparison(ExprKind kind, Location at, Operand left, Operand right, Reporter& reporter) {
  if (!left.bound || !right.bound) return std::nullopt;
  if (!check_comparable(kind, at, left, right, reporter)) return std::nullopt;
  std::vector<Expr> args;
  args.push_back(std::move(*left.bound));
  args.push_back(std::move(*right.bound));
  return make_operation(op_of(kind), ValueType::boolean, std::move(args));
}

Expr make_logic(ExprKind kind, std::vector<Expr> conditions) {
  if (kind != ExprKind::logical_not) return balanced(op_of(kind), std::move(conditions));
  return make_operation(Op::logical_not, ValueType::boolean, std::move(conditions));
}

Expr make_bracketed(Expr value) {
  const bool may_lack_value =
      value.op == Op::attribute || value.op == Op::call || value.op == Op::aggregate;
  if (value.type != ValueType::boolean || !may_lack_value) return value;
  return make_operation(Op::logical_and, ValueType::boolean, {std::move(value)});
}

Bound require_condition(Operand operand, Reporter& reporter) {
  if (!operand.bound || operand.bound->type == ValueType::boolean) return std::move(operand.bound);
  reporter.error(operand.written.at,
                 show(operand.written) + " is " + name_of(operand.bound->type) +
                     ", but a condition is needed here",
                 "compare it with something");
  return std::nullopt;
}

Bound require_type(ValueType stated, Operand operand, Reporter& reporter) {
  if (!operand.bound || operand.bound->type == stated) return std::move(operand.bound);
  reporter.error(
      operand.written.at,
      show(operand.written) + " is " + name_of(operand.bound->type) + ", not " + name_of(stated),
      "the type in brackets is checked: correct it or leave it out");
  return std::nullopt;
}

}  // namespace gorgo::language
