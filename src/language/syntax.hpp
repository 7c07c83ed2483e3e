#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "language/ast.hpp"

/// Questions about the shape of an AST, without names resolved.
namespace gorgo::language {

/// Deeper expressions are refused before anything recurses into them. The parser builds lower
/// trees; other front ends may not. A chain of `and` or of `or` is one level, however long.
inline constexpr std::size_t kMaxExprDepth = 520;

/// What is wrong with looking forward (language.md §3, §8).
inline constexpr std::string_view kForwardLooking =
    "`within ... after` looks forward, to events that come later; only the absence of events "
    "after the terminator can be waited for";

bool is_comparison(ast::ExprKind kind);  ///< `contains` included, `=>` not
bool is_arithmetic(ast::ExprKind kind);  ///< binary only
bool is_logical(ast::ExprKind kind);
/// "+", "<=", "contains", ...
std::string spelling(ast::ExprKind kind);

/// The operands of a chain of `and` or of `or`, in text order, however it is nested; the
/// expression itself when it is neither.
std::vector<const ast::Expr*> chain(const ast::Expr& expr);
/// The conditions of a predicate with top-level `and` split up: `,` and `and` mean the same there.
std::vector<const ast::Expr*> conjuncts(const ast::Predicate& predicate);

/// True when an expression of the rule nests deeper than `kMaxExprDepth`; `where` is then its
/// place.
bool too_deep(const ast::RuleDefinition& rule, Location& where);

/// Calls `f(expr)` for the rule's expressions outside predicates in text order, and
/// `f(const ast::AggregateCall&)` for `$t = AGG`.
template <class F>
void for_each_outer(const ast::RuleDefinition& rule, F&& f) {
  for (const auto& clause : rule.clauses) {
    if (const auto* filter = std::get_if<ast::FilterClause>(&clause)) f(filter->condition);
    if (const auto* binding = std::get_if<ast::AggregateBinding>(&clause)) {
      if (binding->left) f(*binding->left);
      f(*binding->aggregate);
    }
  }
  for (const auto& assignment : rule.assignments) f(assignment.value);
}

/// How messages show an operand: `` `Smoke.area` ``, `` `$a` ``, `` `45` ``, "the expression".
std::string show(const ast::Expr& expr);
/// The type of the aggregate's value; nothing: that of its attribute.
std::optional<ValueType> own_type(AggregateFunction function);
/// Whether it takes attributes of any type, not only numbers.
bool takes_any_type(AggregateFunction function);

}  // namespace gorgo::language
