#include "language/build.hpp"
#include "language/literal.hpp"

/// Items: declarations, and rules without their patterns.
namespace gorgo::language {

ast::Item AstBuilder::item(Parser::ItemContext* item) {
  if (item->eventDeclaration() != nullptr) return event_declaration(item->eventDeclaration());
  return rule(item->ruleDefinition());
}

ast::Predicate AstBuilder::subscription(Parser::SubscriptionContext* subscription) {
  ast::Predicate result;
  if (auto* type = subscription->typeName(); type != nullptr) {
    result.type = name(type);
  } else {
    result.type = {"*", locate(subscription->start)};
  }
  result.conditions = conditions(subscription->conditions(), Place::subscription);
  return result;
}

ast::EventDeclaration AstBuilder::event_declaration(Parser::EventDeclarationContext* declaration) {
  return {.at = locate(declaration->start),
          .name = name(declaration->typeName()),
          .attributes = attributes(declaration->attributeDeclarations())};
}

std::vector<ast::AttributeDeclaration> AstBuilder::attributes(
    Parser::AttributeDeclarationsContext* list) {
  std::vector<ast::AttributeDeclaration> result;
  if (list == nullptr) return result;
  for (auto* declaration : list->attributeDeclaration()) {
    result.push_back({name(declaration->attributeName()), type_of_word(declaration->valueType())});
  }
  return result;
}

ValueType AstBuilder::type_of_word(Parser::ValueTypeContext* context) {
  const std::string word = context->getText();
  if (const auto type = value_type(word)) return *type;
  reporter_.error(locate(context->start), "unknown value type " + in_quotes(word),
                  reporter_.suggest(word, value_type_names(),
                                    "the value types are int, float, bool and string"));
  return ValueType::integer;
}

ast::RuleDefinition AstBuilder::rule(Parser::RuleDefinitionContext* rule) {
  ast::RuleDefinition result;
  result.at = locate(rule->start);
  result.begin_offset = rule->start->getStartIndex();
  result.end_offset = rule->stop->getStopIndex() + 1;
  for (auto* head : rule->ruleHead()) rule_head(result, head);
  if (rule->typeNumbers() != nullptr) {
    result.trex_spelling = true;
    result.numbers = type_numbers(rule->typeNumbers());
  }
  result.type = name(rule->typeName());
  result.attributes = attributes(rule->attributeDeclarations());
  ast::Predicate terminator = predicate(rule->predicate());
  if (lower_case(terminator.type.text) == "timer") {
    result.terminator = timer(terminator);
  } else {
    result.terminator = std::move(terminator);
  }
  for (auto* part : rule->clause()) result.clauses.push_back(clause(part));
  if (rule->whereClause() != nullptr) result.assignments = assignments(rule->whereClause());
  if (rule->consumingClause() != nullptr) {
    for (auto* state : rule->consumingClause()->typeName()) result.consuming.push_back(name(state));
  }
  return result;
}

void AstBuilder::rule_head(ast::RuleDefinition& rule, Parser::RuleHeadContext* head) {
  if (head->annotation() != nullptr) {
    rule.annotations.push_back(annotation(head->annotation()));
  } else if (rule.name) {
    reporter_.error(locate(head->start), "a rule has one name",
                    "it is named " + in_quotes(rule.name->text) + " already");
  } else {
    rule.name = name(head->ruleName()->typeName());
  }
}

ast::Annotation AstBuilder::annotation(Parser::AnnotationContext* annotation) {
  ast::Annotation result{.name = name(annotation->attributeName())};
  for (auto* argument : annotation->annotationArgument()) {
    if (argument->annotationLiteral() != nullptr) {
      result.arguments.emplace_back(ast::Name{"", locate(argument->start)},
                                    annotation_literal(argument->annotationLiteral()));
      continue;
    }
    const ast::Name word = {argument->word()->getText(), locate(argument->word()->start)};
    auto* value = argument->annotationValue();
    if (value == nullptr) {
      result.arguments.emplace_back(ast::Name{"", word.at}, word.text);
    } else if (value->annotationLiteral() != nullptr) {
      result.arguments.emplace_back(word, annotation_literal(value->annotationLiteral()));
    } else {
      result.arguments.emplace_back(word, value->getText());
    }
  }
  return result;
}

Value AstBuilder::annotation_literal(Parser::AnnotationLiteralContext* literal) {
  const bool negative = literal->MINUS() != nullptr;
  if (literal->INT() != nullptr) return integer(literal->INT()->getSymbol(), negative);
  if (literal->FLOAT() != nullptr) return floating(literal->FLOAT()->getSymbol(), negative);
  if (literal->STRING() != nullptr) return text(literal->start);
  return literal->TRUE() != nullptr;
}

std::vector<ast::TypeNumber> AstBuilder::type_numbers(Parser::TypeNumbersContext* numbers) {
  std::vector<ast::TypeNumber> result;
  for (auto* number : numbers->typeNumber()) {
    result.push_back({std::get<std::int64_t>(integer(number->INT()->getSymbol(), false)),
                      name(number->typeName())});
  }
  return result;
}

std::vector<ast::Assignment> AstBuilder::assignments(Parser::WhereClauseContext* where) {
  std::vector<ast::Assignment> result;
  place_ = Place::where;
  for (auto* assignment : where->assignment()) {
    ast::Expr value = sum(assignment->sum()).expr;
    if (value.kind >= ast::ExprKind::equal) {
      reporter_.error(value.at, "there are no conditions in `where`",
                      "filter with `and (...)` before `where`");
    }
    result.push_back({name(assignment->attributeName()), std::move(value)});
  }
  return result;
}

}  // namespace gorgo::language
