#pragma once

#include <string>
#include <utility>
#include <vector>

#include "TeslaParser.h"
#include "language/ast.hpp"
#include "language/item_stream.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {

/// Builds the AST of one item from its parse tree and reports what the grammar cannot say: literals
/// out of range, unknown units, chained comparisons, parts that stand where they have no meaning.
/// What it returns after it reported an error is of no use.
class AstBuilder {
 public:
  using Parser = grammar::TeslaParser;

  /// Expressions higher than this are refused, so that walking one cannot exhaust the stack.
  static constexpr std::size_t kMaxHeight = 512;

  explicit AstBuilder(Reporter& reporter) : reporter_(reporter) {}

  ast::Item item(Parser::ItemContext* item);
  ast::Predicate subscription(Parser::SubscriptionContext* subscription);

 private:
  /// Where an expression stands; decides what may stand in it.
  enum class Place { predicate, subscription, aggregate, filter, where };

  /// An expression and the length of its longest path.
  struct Tree {
    ast::Expr expr;
    std::size_t height = 1;
  };

  // build_rule.cpp
  ast::EventDeclaration event_declaration(Parser::EventDeclarationContext* declaration);
  ast::RuleDefinition rule(Parser::RuleDefinitionContext* rule);
  void rule_head(ast::RuleDefinition& rule, Parser::RuleHeadContext* head);
  std::vector<ast::AttributeDeclaration> attributes(Parser::AttributeDeclarationsContext* list);
  ast::Annotation annotation(Parser::AnnotationContext* annotation);
  Value annotation_literal(Parser::AnnotationLiteralContext* literal);
  std::vector<ast::TypeNumber> type_numbers(Parser::TypeNumbersContext* numbers);
  std::vector<ast::Assignment> assignments(Parser::WhereClauseContext* where);

  // build_pattern.cpp
  ast::Predicate predicate(Parser::PredicateContext* predicate);
  std::vector<ast::Expr> conditions(Parser::ConditionsContext* conditions, Place place);
  ast::Clause clause(Parser::ClauseContext* clause);
  ast::StateClause state(Parser::ClauseContext* clause);
  ast::NegationClause negation(Parser::ClauseContext* clause);
  ast::Clause filter(Parser::ClauseContext* clause);
  ast::Span span(Parser::SpanContext* span);
  Duration window(Parser::WindowContext* window);
  ast::Timer timer(const ast::Predicate& predicate);
  void refuse_timer(const ast::Predicate& predicate);

  // build_condition.cpp
  Tree disjunction(Parser::DisjunctionContext* disjunction);
  Tree conjunction(Parser::ConjunctionContext* conjunction);
  Tree inversion(Parser::InversionContext* inversion);
  Tree comparison(Parser::ComparisonContext* comparison);
  std::optional<ValueType> stated_type(Parser::ComparisonContext* comparison);
  ast::ExprKind comparator(Parser::ComparatorContext* comparator);
  Tree compare(Parser::ComparatorContext* comparator, Tree left, Tree right);
  ast::AggregateBinding aggregate_binding(Parser::ComparisonContext* comparison);
  bool is_aggregate_binding(Parser::ComparisonContext* comparison);
  std::shared_ptr<ast::AggregateCall> aggregate(antlr4::Token* function,
                                                Parser::AggregateContext* call);
  void require_aggregate_place(const antlr4::Token* function);
  Tree balanced(ast::ExprKind kind, const std::vector<antlr4::tree::TerminalNode*>& operators,
                std::vector<Tree>& operands, std::size_t begin, std::size_t end);

  // build_value.cpp
  Tree sum(Parser::SumContext* sum);
  Tree product(Parser::ProductContext* product);
  Tree factor(Parser::FactorContext* factor);
  Tree primary(Parser::PrimaryContext* primary, bool negative);
  Tree reference(Parser::PrimaryContext* primary);
  Value integer(antlr4::Token* digits, bool negative);
  Value duration(antlr4::Token* digits, Parser::UnitContext* unit, bool negative);
  Value floating(antlr4::Token* digits, bool negative);
  Value text(antlr4::Token* literal);
  Duration unit(Parser::UnitContext* unit);
  /// The operation on its operands, unless that would be too high.
  Tree combine(ast::ExprKind kind, antlr4::Token* at, std::vector<Tree> operands);
  /// Reports a condition where a value is wanted.
  void require_value(const ast::Expr& expr);

  Location locate(const antlr4::Token* token) const;
  ast::Name name(antlr4::ParserRuleContext* word) const;
  ValueType type_of_word(Parser::ValueTypeContext* word);

  Reporter& reporter_;
  Place place_ = Place::where;
};

}  // namespace gorgo::language
