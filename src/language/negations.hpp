#pragma once

#include <cstdint>

#include "gorgo/rule.hpp"
#include "language/ast.hpp"
#include "language/predicates.hpp"
#include "language/reporter.hpp"
#include "language/scope.hpp"
#include "language/windows.hpp"

namespace gorgo::language {

/// Binds the negations of one rule: `not N(...) between A and B`.
class NegationBinder {
 public:
  NegationBinder(const Scope& scope, PredicateBinder& predicates, WindowBinder& windows,
                 Reporter& reporter)
      : scope_(scope), predicates_(predicates), windows_(windows), reporter_(reporter) {}

  /// `earlier` is the number of states before the clause.
  Negation bind(const ast::NegationClause& clause, std::uint32_t earlier);

 private:
  const Scope& scope_;
  PredicateBinder& predicates_;
  WindowBinder& windows_;
  Reporter& reporter_;
};

}  // namespace gorgo::language
