#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gorgo/rule.hpp"
#include "language/ast.hpp"
#include "language/predicates.hpp"
#include "language/reporter.hpp"
#include "language/scope.hpp"
#include "language/windows.hpp"

namespace gorgo::language {

/// Binds the states of one rule: its terminator, and the events that clauses select before it.
class StateBinder {
 public:
  StateBinder(const Scope& scope, PredicateBinder& predicates, WindowBinder& windows,
              Reporter& reporter)
      : scope_(scope), predicates_(predicates), windows_(windows), reporter_(reporter) {}

  /// Binds state 0. It has no predicate when the terminator is a timer.
  State bind_terminator(const ast::RuleDefinition& rule);
  /// Binds what `every` says of the terminator, which demands the attributes of its key.
  Every bind_every(const ast::Every& every, State& terminator);
  /// Binds the state number `index`: `each B(...) within 5 min from A`.
  State bind(const ast::StateClause& clause, std::uint32_t index);
  /// Conditions on the row that was chosen last, `table Customer(limit > 5)`, as filters.
  std::vector<Filter> take_row_tests() { return std::exchange(row_tests_, {}); }

 private:
  void bind_row(const ast::StateClause& clause, std::uint32_t index, State& state);
  void bind_selection(const ast::StateClause& clause, State& state);
  void bind_keys(const ast::StateClause& clause, std::uint32_t index, State& state);
  std::vector<std::uint32_t> bind_keys(const std::vector<ast::Expr>& per, std::uint32_t index,
                                       Predicate& predicate);
  void bind_number(const ast::StateClause& clause, State& state);
  void bind_window(const ast::Span& span, std::uint32_t index, State& state);

  const Scope& scope_;
  PredicateBinder& predicates_;
  WindowBinder& windows_;
  Reporter& reporter_;
  std::vector<Filter> row_tests_;
};

}  // namespace gorgo::language
