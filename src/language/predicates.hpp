#pragma once

#include <cstdint>

#include "gorgo/rule.hpp"
#include "language/ast.hpp"
#include "language/bound.hpp"
#include "language/expressions.hpp"
#include "language/reporter.hpp"
#include "language/scope.hpp"
#include "language/types.hpp"

namespace gorgo::language {

/// Binds the predicates of one rule, `Type(conditions)`.
class PredicateBinder {
 public:
  PredicateBinder(const Scope& scope, const TypeTable& types, ExpressionBinder& expressions,
                  Reporter& reporter)
      : scope_(scope), types_(types), expressions_(expressions), reporter_(reporter) {}

  /// Binds the predicate of the state number `state`.
  Predicate bind_state(const ast::Predicate& predicate, std::uint32_t state);
  /// Binds an attribute of a state's own type that `per` names.
  Bound bind_key(const ast::Expr& attribute, std::uint32_t state);
  /// Binds the predicate of a negation or an aggregate, which `kind` says. It can have no alias.
  Predicate bind_nameless(const ast::Predicate& predicate, Context::Kind kind);

 private:
  Predicate bind(const ast::Predicate& predicate, const Context& context);
  Bound bind_presence(const ast::Expr& condition, const Context& context);

  const Scope& scope_;
  const TypeTable& types_;
  ExpressionBinder& expressions_;
  Reporter& reporter_;
};

}  // namespace gorgo::language
