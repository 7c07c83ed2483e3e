#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gorgo/rule.hpp"
#include "language/ast.hpp"
#include "language/bound.hpp"
#include "language/expressions.hpp"
#include "language/predicates.hpp"
#include "language/references.hpp"
#include "language/reporter.hpp"
#include "language/scope.hpp"
#include "language/windows.hpp"

namespace gorgo::language {

/// Binds the aggregates of one rule, and keeps them until the rule is complete: they stand in
/// clauses, filters and `where`, but a rule numbers them in the order of its text.
class AggregateBinder {
 public:
  AggregateBinder(const Scope& scope, ReferenceBinder& references, ExpressionBinder& expressions,
                  PredicateBinder& predicates, WindowBinder& windows, Reporter& reporter);

  /// Binds an aggregate that stands behind `earlier` states.
  void bind(const ast::AggregateCall& call, std::uint32_t earlier);
  /// Binds `[left cmp] $t = AGG(...)`. The result is the condition on `$t`, if there is one.
  Bound bind_total(const ast::AggregateBinding& binding, std::uint32_t earlier);
  /// Moves all aggregates that were bound into the rule.
  void give(Rule& rule);

 private:
  void bind_lookup(const ast::AggregateCall& call, Aggregate& aggregate);
  std::optional<std::uint32_t> bind_attribute(const ast::AggregateCall& call);

  const Scope& scope_;
  ReferenceBinder& references_;
  ExpressionBinder& expressions_;
  PredicateBinder& predicates_;
  WindowBinder& windows_;
  Reporter& reporter_;
  std::vector<Aggregate> aggregates_;    // by number
  std::vector<std::uint32_t> required_;  // as in `Rule`
};

}  // namespace gorgo::language
