#pragma once

#include <cstdint>
#include <functional>

#include "language/ast.hpp"
#include "language/bound.hpp"
#include "language/operations.hpp"
#include "language/references.hpp"
#include "language/reporter.hpp"
#include "language/scope.hpp"

namespace gorgo::language {

/// Binds the expressions of one rule. Operands are bound, and reported, in the order of the text.
class ExpressionBinder {
 public:
  /// Binds an aggregate that stands in an expression, behind `earlier` states. This is a function
  /// because aggregates contain expressions in turn, so that their binder is made after this one.
  using BindAggregate =
      std::function<void(const ast::AggregateCall& aggregate, std::uint32_t earlier)>;

  ExpressionBinder(const Scope& scope, ReferenceBinder& references, Reporter& reporter,
                   BindAggregate bind_aggregate);

  Bound bind(const ast::Expr& expr, const Context& context);
  /// Binds an expression that must be of type bool.
  Bound bind_condition(const ast::Expr& expr, const Context& context);

 private:
  /// Binds all but the brackets around the expression, which say nothing where only what holds
  /// counts.
  Bound bind_stated(const ast::Expr& expr, const Context& context);
  /// Binds all but the brackets and the type that is stated before the expression.
  Bound bind_kind(const ast::Expr& expr, const Context& context);
  Bound bind_aggregate(const ast::Expr& expr, const Context& context);
  Bound bind_arithmetic(const ast::Expr& expr, const Context& context);
  Bound bind_call(const ast::Expr& expr, const Context& context);
  Bound bind_comparison(const ast::Expr& expr, const Context& context);
  Bound bind_logic(const ast::Expr& expr, const Context& context);
  Operand operand(const ast::Expr& expr, const Context& context);
  void refuse_parameter(const ast::Expr& expr, const Context& context);

  const Scope& scope_;
  ReferenceBinder& references_;
  Reporter& reporter_;
  BindAggregate bind_aggregate_;
};

}  // namespace gorgo::language
