#pragma once

#include <optional>
#include <vector>

#include "TeslaParser.h"
#include "language/ast.hpp"
#include "language/build_pattern.hpp"
#include "language/constants.hpp"
#include "language/reporter.hpp"
#include "language/token_reader.hpp"

namespace gorgo::language {

/// Builds the AST of one item from its parse tree. This and the other builders report what the
/// grammar cannot say: literals out of range, unknown units, chained comparisons, parts that stand
/// where they have no meaning. What a builder returns after it reported an error is of no use.
class ItemBuilder {
 public:
  using Parser = grammar::TeslaParser;

  /// `reporter` must outlive the builder.
  explicit ItemBuilder(Reporter& reporter)
      : tokens_(reporter), pattern_(reporter), reporter_(reporter) {}

  /// Nothing for a constant, whose value stands in the rules behind it.
  std::optional<ast::Item> item(Parser::ItemContext* item);
  /// The names of the constants so far, in the order of the text.
  std::vector<ast::Name> constants() const { return constants_.names(); }

 private:
  void constant(Parser::ConstantContext* constant);
  ast::EventDeclaration event_declaration(Parser::EventDeclarationContext* declaration);
  ast::EventDeclaration table_declaration(Parser::TableDeclarationContext* declaration);
  ast::AttributeDeclaration attribute(Parser::AttributeDeclarationContext* declaration);
  ast::RuleDefinition rule(Parser::RuleDefinitionContext* rule);
  void head(Parser::RuleHeadContext* head, ast::RuleDefinition& rule);
  void terminator(Parser::TerminatorContext* written, ast::RuleDefinition& rule);
  std::vector<ast::AttributeDeclaration> attributes(Parser::AttributeDeclarationsContext* list);
  ast::Limit limit(Parser::LimitClauseContext* limit);
  ast::Annotation annotation(Parser::AnnotationContext* annotation);
  ast::AnnotationArgument annotation_literal(ast::Name name,
                                             Parser::AnnotationLiteralContext* literal);
  std::vector<ast::TypeNumber> type_numbers(Parser::TypeNumbersContext* numbers);
  std::vector<ast::Assignment> assignments(Parser::WhereClauseContext* where);
  std::vector<ast::OrderKey> order(Parser::OrderClauseContext* order);

  TokenReader tokens_;
  PatternBuilder pattern_;
  Reporter& reporter_;
  Constants constants_;
};

/// Builds what a subscription states, as `ItemBuilder` builds items.
ast::Predicate build_subscription(grammar::TeslaParser::SubscriptionContext* subscription,
                                  Reporter& reporter);

}  // namespace gorgo::language
