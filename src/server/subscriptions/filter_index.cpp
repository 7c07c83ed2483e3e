#include "server/subscriptions/filter_index.hpp"

#include <bit>
#include <cmath>
#include <optional>

#include "base/arithmetic.hpp"
#include "language/operators.hpp"
#include "plan/plan.hpp"

namespace gorgo::server {
namespace {

using ast::ExprKind;

bool is_comparison(ExprKind kind) {
  return kind == ExprKind::equal || kind == ExprKind::less || kind == ExprKind::less_equal ||
         kind == ExprKind::greater || kind == ExprKind::greater_equal;
}

/// None: the expression is no constant.
Datum constant_of(const ast::Expr& e) {
  if (e.kind == ExprKind::literal || e.kind == ExprKind::duration) return to_datum(e.value);
  if (e.kind == ExprKind::negate) return arithmetic::negate(constant_of(e.children[0]));
  return Datum::none();
}

/// Without its value, an attribute in brackets is false and equals a constant.
bool is_attribute(const ast::Expr& e) {
  return !e.bracketed && (e.kind == ExprKind::attribute || e.kind == ExprKind::state_attribute);
}

std::optional<ConstantCondition> constant_condition(const ast::Expr& e) {
  if (!is_comparison(e.kind)) return std::nullopt;
  const Op op = language::op_of(e.kind);
  const ast::Expr& left = e.children[0];
  const ast::Expr& right = e.children[1];
  if (is_attribute(left)) return ConstantCondition{left.name.text, op, constant_of(right)};
  if (is_attribute(right)) {
    return ConstantCondition{right.name.text, *plan::mirrored(op), constant_of(left)};
  }
  return std::nullopt;
}

void collect(const ast::Expr& e, std::vector<ConstantCondition>& conditions) {
  if (e.kind == ExprKind::logical_and) {
    for (const ast::Expr& part : e.children) collect(part, conditions);
  }
  const auto condition = constant_condition(e);
  if (condition && condition->constant.exists()) conditions.push_back(*condition);
}

}  // namespace

bool ConstantCondition::is_bound() const {
  if (op == Op::equal) return false;
  if (constant.tag == Datum::Tag::floating) return !std::isnan(constant.floating);
  return constant.tag == Datum::Tag::integer;
}

std::vector<ConstantCondition> constant_conditions(const Filter& filter) {
  std::vector<ConstantCondition> conditions;
  for (const ast::Expr& condition : filter.conditions()) collect(condition, conditions);
  return conditions;
}

std::uint64_t word_of(const Datum& value) {
  if (value.tag == Datum::Tag::boolean) return value.boolean ? 1 : 0;
  // An int and a float that are equal become the same float; a zero has no sign then.
  return std::bit_cast<std::uint64_t>(arithmetic::to_float(value).floating + 0.0);
}

Datum attribute_of(const OutputBatch& batch, const OutputBatch::Row& row, std::string_view name) {
  if (name == "timestamp") return Datum::of(row.timestamp);
  return batch.attribute(row, name);
}

}  // namespace gorgo::server
