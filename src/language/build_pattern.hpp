#pragma once

#include "TeslaParser.h"
#include "language/ast.hpp"
#include "language/reporter.hpp"
#include "language/token_reader.hpp"

namespace gorgo::language {

/// Builds the parts of a pattern: predicates, and the clauses behind the terminator.
class PatternBuilder {
 public:
  using Parser = grammar::TeslaParser;

  /// `reporter` must outlive the builder.
  explicit PatternBuilder(Reporter& reporter) : tokens_(reporter), reporter_(reporter) {}

  ast::Predicate predicate(Parser::PredicateContext* predicate);
  ast::Clause clause(Parser::ClauseContext* clause);
  /// What stands around the predicate of a terminator that begins with `every`.
  ast::Every every(Parser::TerminatorContext* terminator);

 private:
  ast::StateClause state(Parser::ClauseContext* clause);
  ast::StateClause table(Parser::ClauseContext* clause);
  void selection(Parser::SelectionContext* selection, ast::StateClause& state);
  std::vector<ast::Expr> keys(Parser::PerContext* per);
  ast::NegationClause negation(Parser::ClauseContext* clause);
  ast::Clause filter(Parser::ClauseContext* clause);

  TokenReader tokens_;
  Reporter& reporter_;
};

}  // namespace gorgo::language
