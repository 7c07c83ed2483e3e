#pragma once

#include <memory>
#include <string>

#include "TeslaParser.h"
#include "language/ast.hpp"
#include "language/build_expression.hpp"
#include "language/call_shape.hpp"
#include "language/reporter.hpp"
#include "language/token_reader.hpp"

namespace gorgo::language {

/// Builds the aggregates that stand in one place.
class AggregateBuilder {
 public:
  using Parser = grammar::TeslaParser;

  /// `reporter` must outlive the builder.
  AggregateBuilder(Place place, Reporter& reporter)
      : place_(place), tokens_(reporter), reporter_(reporter) {}

  /// Builds `AGG(...)`; `function` is its first word.
  std::shared_ptr<ast::AggregateCall> call(antlr4::Token* function, const AggregateShape& call);
  /// Whether a filter is `[expr cmp] $t = AGG(...)`.
  static bool is_binding(Parser::ComparisonContext* comparison);
  /// Precondition: `is_binding(comparison)`.
  ast::AggregateBinding binding(Parser::ComparisonContext* comparison);

 private:
  void compared_value(Parser::ComparisonContext* comparison, ast::AggregateBinding& binding);
  void attribute(const std::string& word, const AggregateShape& call, ast::AggregateCall& result);
  void percent(const AggregateShape& call, ast::AggregateCall& result);
  void span(const AggregateShape& call, ast::AggregateCall& result);
  void check_place(const antlr4::Token* function);

  const Place place_;
  TokenReader tokens_;
  Reporter& reporter_;
};

}  // namespace gorgo::language
