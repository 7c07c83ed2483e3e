#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "TeslaParser.h"
#include "language/ast.hpp"
#include "language/build_tree.hpp"
#include "language/reporter.hpp"
#include "language/token_reader.hpp"

namespace gorgo::language {

/// Where an expression stands, which decides what may stand in it.
enum class Place : std::uint8_t { predicate, subscription, aggregate, filter, where };

/// Builds expressions that stand in one place.
class ExpressionBuilder {
 public:
  using Parser = grammar::TeslaParser;

  /// `reporter` must outlive the builder.
  ExpressionBuilder(Place place, Reporter& reporter)
      : place_(place), tokens_(reporter), reporter_(reporter) {}

  /// The conditions in brackets; none when there is no list.
  std::vector<ast::Expr> conditions(Parser::ConditionsContext* list);
  ast::Expr condition(Parser::ComparisonContext* condition) { return comparison(condition).expr; }
  ast::Expr value(Parser::SumContext* value) { return sum(value).expr; }
  /// A literal with its sign; another expression where something else is written.
  ast::Expr literal(Parser::FactorContext* literal) { return factor(literal).expr; }

 private:
  Tree disjunction(Parser::DisjunctionContext* disjunction);
  Tree conjunction(Parser::ConjunctionContext* conjunction);
  Tree inversion(Parser::InversionContext* inversion);
  Tree comparison(Parser::ComparisonContext* comparison);
  Tree compare(Parser::ComparatorContext* comparator, Tree left, Tree right);
  Tree one_of(antlr4::Token* in, Parser::ArgumentsContext* values, Tree left);
  Tree sum(Parser::SumContext* sum);
  Tree product(Parser::ProductContext* product);
  Tree arithmetic(ast::ExprKind kind, antlr4::Token* op, Tree left, Tree right);
  Tree factor(Parser::FactorContext* factor);
  Tree primary(Parser::PrimaryContext* primary, bool negative);
  void parameter(antlr4::Token* word, ast::Expr& expr);
  Tree reference(Parser::PrimaryContext* primary);
  /// Makes an attribute of a state of a word with a dot.
  void split(const ast::Name& word, ast::Expr& expr);
  /// Reports an attribute of a state where there are none.
  void refuse_in_subscription(const ast::Expr& expr);
  Tree call(Parser::PrimaryContext* primary, const ast::Name& name);
  Tree lookup(Parser::PrimaryContext* primary, const ast::Name& name);
  Tree call(const ast::Name& name, std::vector<Tree> arguments);
  void refuse_unless_function(const ast::Name& name, Parser::MemberContext& member);

  const Place place_;
  TokenReader tokens_;
  Reporter& reporter_;
};

/// The operator of a comparison, or `ast::ExprKind::bind`.
ast::ExprKind kind_of(grammar::TeslaParser::ComparatorContext* comparator);
/// The `[type]` before a comparison.
std::optional<ValueType> stated_type(grammar::TeslaParser::ComparisonContext* comparison,
                                     Reporter& reporter);

}  // namespace gorgo::language
