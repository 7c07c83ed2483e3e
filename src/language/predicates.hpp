#pragma once

#include <cstdint>
#include <vector>

#include "gorgo/rule.hpp"
#include "language/ast.hpp"
#include "language/bound.hpp"
#include "language/expressions.hpp"
#include "language/reporter.hpp"
#include "language/scope.hpp"
#include "language/types.hpp"

namespace gorgo::language {

/// Whether the condition says what value the attribute of the event under test has.
bool gives_key(const Expr& condition, std::uint32_t attribute);
bool reads_candidate(const Expr& expr);

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
  /// The key of the table that a state or a look-up is of. Reports that it is no table, then there
  /// is none.
  std::vector<std::uint32_t> key_of_table(TypeIndex rows, const ast::Name& table);
  /// Binds the predicate of a negation or an aggregate, which `kind` says. It can have no alias.
  Predicate bind_nameless(const ast::Predicate& predicate, Context::Kind kind);

 private:
  void refuse_exists(const ast::Name& type);
  Predicate bind(const ast::Predicate& predicate, const Context& context);
  Bound bind_presence(const ast::Expr& condition, const Context& context);

  const Scope& scope_;
  const TypeTable& types_;
  ExpressionBinder& expressions_;
  Reporter& reporter_;
};

}  // namespace gorgo::language
