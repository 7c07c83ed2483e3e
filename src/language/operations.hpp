#pragma once

#include <vector>

#include "language/ast.hpp"
#include "language/bound.hpp"
#include "language/reporter.hpp"

/// Operators on operands that are bound. Operands whose types do not fit are reported; the result
/// is then empty, as it is when an operand is empty.
namespace gorgo::language {

/// An operand as it was written, which messages show, and in its checked form.
struct Operand {
  const ast::Expr& written;
  Bound bound;
};

/// `kind` is arithmetic with two operands. The result is a float when one of them is.
Bound make_arithmetic(ast::ExprKind kind, Operand left, Operand right, Reporter& reporter);
/// `-operand`, folded for constants.
Bound make_negative(Operand operand, Reporter& reporter);
/// `kind` is a comparison, and `at` the place of its operator.
Bound make_comparison(ast::ExprKind kind, Location at, Operand left, Operand right,
                      Reporter& reporter);
/// `kind` is logic: one condition for `not`, one or more for `and` and `or`.
Expr make_logic(ast::ExprKind kind, std::vector<Expr> conditions);
/// What stands in brackets: a condition that may have no value becomes an `and` of it alone, which
/// is false then.
Expr make_bracketed(Expr value);

/// The operand if it is a condition.
Bound require_condition(Operand operand, Reporter& reporter);
/// The operand if it has the type that is stated in brackets before it.
Bound require_type(ValueType stated, Operand operand, Reporter& reporter);

}  // namespace gorgo::language
