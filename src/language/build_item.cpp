#include "language/build_item.hpp"

#include <utility>

#include "language/build_expression.hpp"
#include "language/build_timer.hpp"

namespace gorgo::language {

std::optional<ast::Item> ItemBuilder::item(Parser::ItemContext* item) {
  if (item->eventDeclaration() != nullptr) return event_declaration(item->eventDeclaration());
  if (item->tableDeclaration() != nullptr) return table_declaration(item->tableDeclaration());
  if (item->ruleDefinition() != nullptr) return rule(item->ruleDefinition());
  constant(item->constant());
  return std::nullopt;
}

void ItemBuilder::constant(Parser::ConstantContext* constant) {
  std::optional<ast::Expr> value =
      ExpressionBuilder(Place::filter, reporter_).literal(constant->factor());
  const bool is_literal =
      value->kind == ast::ExprKind::literal || value->kind == ast::ExprKind::duration;
  if (!is_literal) {
    reporter_.error(value->at, "a constant is a literal: a number, a time, a string or a bool",
                    "write for example `const limit = 45;`");
    value.reset();
  }
  constants_.declare(tokens_.name(constant->attributeName()), std::move(value), reporter_);
}

ast::EventDeclaration ItemBuilder::event_declaration(Parser::EventDeclarationContext* declaration) {
  ast::EventDeclaration result{.at = tokens_.locate(declaration->start),
                               .internal = declaration->INTERNAL() != nullptr,
                               .name = tokens_.name(declaration->typeName()),
                               .attributes = attributes(declaration->attributeDeclarations())};
  constants_.note(result.attributes, reporter_);
  return result;
}

ast::EventDeclaration ItemBuilder::table_declaration(Parser::TableDeclarationContext* declaration) {
  ast::EventDeclaration result{.at = tokens_.locate(declaration->start),
                               .table = true,
                               .name = tokens_.name(declaration->typeName()),
                               .attributes = {}};
  bool has_key = false;
  for (auto* written : declaration->tableAttribute()) {
    result.attributes.push_back(attribute(written->attributeDeclaration()));
    result.attributes.back().is_key = written->KEY() != nullptr;
    has_key = has_key || written->KEY() != nullptr;
  }
  if (!has_key) {
    reporter_.error(result.name.at, "table " + in_quotes(result.name.text) + " has no key",
                    "write `key` behind the attributes that tell one row from another: "
                    "`id: string key`");
  }
  constants_.note(result.attributes, reporter_);
  return result;
}

ast::AttributeDeclaration ItemBuilder::attribute(Parser::AttributeDeclarationContext* declaration) {
  return {tokens_.name(declaration->attributeName()), tokens_.value_type(declaration->valueType())};
}

std::vector<ast::AttributeDeclaration> ItemBuilder::attributes(
    Parser::AttributeDeclarationsContext* list) {
  std::vector<ast::AttributeDeclaration> result;
  if (list == nullptr) return result;
  for (auto* declaration : list->attributeDeclaration()) {
    result.push_back(attribute(declaration));
  }
  return result;
}

ast::RuleDefinition ItemBuilder::rule(Parser::RuleDefinitionContext* rule) {
  ast::RuleDefinition result;
  result.at = tokens_.locate(rule->start);
  result.begin_offset = rule->start->getStartIndex();
  result.end_offset = rule->stop->getStopIndex() + 1;
  for (auto* part : rule->ruleHead()) head(part, result);
  if (rule->typeNumbers() != nullptr) {
    result.trex_spelling = true;
    result.numbers = type_numbers(rule->typeNumbers());
  }
  result.type = tokens_.name(rule->typeName());
  result.attributes = attributes(rule->attributeDeclarations());
  constants_.note(result.attributes, reporter_);
  terminator(rule->terminator(), result);
  for (auto* part : rule->clause()) result.clauses.push_back(pattern_.clause(part));
  if (rule->whereClause() != nullptr) result.assignments = assignments(rule->whereClause());
  if (rule->orderClause() != nullptr) result.order = order(rule->orderClause());
  if (auto* limit = rule->limitClause(); limit != nullptr) {
    result.limit = this->limit(limit);
  }
  if (rule->consumingClause() != nullptr) {
    for (auto* state : rule->consumingClause()->typeName()) {
      result.consuming.push_back(tokens_.name(state));
    }
  }
  if (rule->executeClause() != nullptr) {
    for (auto* part : rule->executeClause()->action()) {
      result.actions.push_back(tokens_.action(part));
    }
  }
  constants_.put_into(result, reporter_);
  return result;
}

void ItemBuilder::terminator(Parser::TerminatorContext* written, ast::RuleDefinition& rule) {
  ast::Predicate terminator = pattern_.predicate(written->predicate());
  if (written->EVERY() != nullptr) rule.every = pattern_.every(written);
  if (!is_timer(terminator)) {
    rule.terminator = std::move(terminator);
    return;
  }
  rule.terminator = build_timer(terminator, reporter_);
  if (!rule.every) return;
  reporter_.error(rule.every->at, "`every` counts events, and a timer is none",
                  "write a longer period: `from Timer(every = 1 h)`");
  rule.every.reset();
}

void ItemBuilder::head(Parser::RuleHeadContext* head, ast::RuleDefinition& rule) {
  if (head->annotation() != nullptr) {
    rule.annotations.push_back(annotation(head->annotation()));
  } else if (rule.name) {
    reporter_.error(tokens_.locate(head->start), "a rule has one name",
                    "it is named " + in_quotes(rule.name->text) + " already");
  } else {
    rule.name = tokens_.name(head->ruleName()->typeName());
  }
}

ast::Limit ItemBuilder::limit(Parser::LimitClauseContext* limit) {
  if (limit->INT() != nullptr) {
    auto* number = limit->INT()->getSymbol();
    return {.at = tokens_.locate(number), .composites = tokens_.integer(number)};
  }
  auto* name = limit->constantName()->start;
  return {.at = tokens_.locate(name), .constant = {name->getText(), tokens_.locate(name)}};
}

ast::Annotation ItemBuilder::annotation(Parser::AnnotationContext* annotation) {
  ast::Annotation result{.name = tokens_.name(annotation->attributeName())};
  for (auto* argument : annotation->annotationArgument()) {
    const ast::Name bare{"", tokens_.locate(argument->start)};
    auto* value = argument->annotationValue();
    auto* literal = value != nullptr ? value->annotationLiteral() : argument->annotationLiteral();
    const ast::Name name =
        value == nullptr ? bare : ast::Name{argument->word()->getText(), bare.at};
    if (literal != nullptr) {
      result.arguments.push_back(annotation_literal(name, literal));
    } else {
      const std::string word = value != nullptr ? value->getText() : argument->word()->getText();
      result.arguments.push_back({.name = name, .value = word, .is_word = true});
    }
    result.arguments.back().value_at = value == nullptr ? bare.at : tokens_.locate(value->start);
  }
  return result;
}

ast::AnnotationArgument ItemBuilder::annotation_literal(ast::Name name,
                                                        Parser::AnnotationLiteralContext* literal) {
  ast::AnnotationArgument result{.name = std::move(name), .value = literal->TRUE() != nullptr};
  const bool negative = literal->MINUS() != nullptr;
  if (literal->INT() != nullptr) {
    auto* digits = literal->INT()->getSymbol();
    result.is_time = literal->unit() != nullptr;
    result.value = result.is_time ? tokens_.duration(digits, literal->unit(), negative)
                                  : tokens_.integer(digits, negative);
  } else if (literal->FLOAT() != nullptr) {
    result.value = tokens_.floating(literal->FLOAT()->getSymbol(), negative);
  } else if (literal->STRING() != nullptr) {
    result.value = tokens_.text(literal->start);
  }
  return result;
}

std::vector<ast::TypeNumber> ItemBuilder::type_numbers(Parser::TypeNumbersContext* numbers) {
  std::vector<ast::TypeNumber> result;
  for (auto* number : numbers->typeNumber()) {
    result.push_back(
        {tokens_.integer(number->INT()->getSymbol()), tokens_.name(number->typeName())});
  }
  return result;
}

std::vector<ast::Assignment> ItemBuilder::assignments(Parser::WhereClauseContext* where) {
  std::vector<ast::Assignment> result;
  ExpressionBuilder expressions(Place::where, reporter_);
  for (auto* assignment : where->assignment()) {
    ast::Expr value = expressions.value(assignment->sum());
    result.push_back({tokens_.name(assignment->attributeName()), std::move(value)});
  }
  return result;
}

std::vector<ast::OrderKey> ItemBuilder::order(Parser::OrderClauseContext* order) {
  std::vector<ast::OrderKey> result;
  for (auto* key : order->orderKey()) {
    result.push_back({tokens_.name(key->attributeName()), key->DESC() != nullptr});
  }
  return result;
}

ast::Predicate build_subscription(grammar::TeslaParser::SubscriptionContext* subscription,
                                  Reporter& reporter) {
  TokenReader tokens(reporter);
  ast::Predicate result;
  if (auto* type = subscription->typeName(); type != nullptr) {
    result.type = tokens.read_type(type);
  } else {
    result.type = {"*", tokens.locate(subscription->start)};
  }
  result.conditions =
      ExpressionBuilder(Place::subscription, reporter).conditions(subscription->conditions());
  return result;
}

}  // namespace gorgo::language
