#pragma once

#include <cstdint>
#include <string>

#include "gorgo/rule.hpp"
#include "language/aggregates.hpp"
#include "language/ast.hpp"
#include "language/bound.hpp"
#include "language/composite.hpp"
#include "language/expressions.hpp"
#include "language/inference.hpp"
#include "language/language.hpp"
#include "language/negations.hpp"
#include "language/predicates.hpp"
#include "language/references.hpp"
#include "language/reporter.hpp"
#include "language/scope.hpp"
#include "language/states.hpp"
#include "language/types.hpp"
#include "language/windows.hpp"

namespace gorgo::language {

/// What the rules of one file share once the types of all attributes are known.
struct FileContext {
  const Source& source;
  const TypeTable& types;
  Inference& inference;
  Reporter& reporter;
};

/// Turns one rule into its checked form, part by part in the order of the text. Everything that is
/// wrong is reported; the result is meaningful only when nothing was.
class RuleBinder {
 public:
  RuleBinder(const ast::RuleDefinition& definition, const Scope& scope, const FileContext& file);
  RuleBinder(const RuleBinder&) = delete;
  RuleBinder& operator=(const RuleBinder&) = delete;

  /// Call it once.
  Rule bind(std::string full_name);

 private:
  void bind_clause(const ast::Clause& clause);
  void add_filter(Bound condition);
  void test_rows_apart();
  std::string written() const;

  const ast::RuleDefinition& ast_;
  const FileContext& file_;
  Rule rule_;

  // Each binder refers to those before it.
  ReferenceBinder references_;
  ExpressionBinder expressions_;
  PredicateBinder predicates_;
  WindowBinder windows_;
  StateBinder states_;
  NegationBinder negations_;
  AggregateBinder aggregates_;
  CompositeBinder composite_;
};

}  // namespace gorgo::language
