#include "language/call_shape.hpp"

#include <string>

#include "functions/catalogue.hpp"

namespace gorgo::language {
namespace {

using Parser = grammar::TeslaParser;

bool begins_with_dot(Parser::MemberContext* member) {
  return member->start->getType() == Parser::DOT;
}

Parser::PrimaryContext* primary_of(Parser::ConjunctionContext* condition) {
  const auto inversions = condition->inversion();
  if (inversions.size() != 1 || !inversions[0]->NOT().empty()) return nullptr;
  auto* comparison = inversions[0]->comparison();
  const bool is_lone = comparison->sum().size() == 1 && comparison->IN().empty();
  if (!is_lone || comparison->statedType() != nullptr) return nullptr;
  return lone_primary(comparison->sum(0));
}

/// Takes the types of `A or B(...)` up to the last one, whose brackets are of all. False: it is
/// something else.
bool take_types(Parser::DisjunctionContext* argument, AggregateShape& shape) {
  const auto operands = argument->conjunction();
  for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
    auto* primary = primary_of(operands[i]);
    const bool is_name =
        primary != nullptr && primary->attributeName() != nullptr && primary->member() == nullptr;
    if (!is_name) return false;
    shape.types.push_back(primary->attributeName());
  }
  shape.ors = argument->OR();
  return true;
}

}  // namespace

Parser::PrimaryContext* lone_primary(Parser::SumContext* sum) {
  const auto products = sum->product();
  if (products.size() != 1) return nullptr;
  const auto factors = products[0]->factor();
  if (factors.size() != 1 || !factors[0]->MINUS().empty()) return nullptr;
  return factors[0]->primary();
}

Parser::PrimaryContext* lone_primary(Parser::DisjunctionContext* condition) {
  const auto conjunctions = condition->conjunction();
  return conjunctions.size() == 1 ? primary_of(conjunctions[0]) : nullptr;
}

bool is_call(Parser::PrimaryContext* primary) {
  auto* member = primary->member();
  return member != nullptr && member->arguments() != nullptr && !begins_with_dot(member);
}

bool is_lookup(Parser::PrimaryContext* primary) {
  auto* member = primary->member();
  const std::string name = primary->start->getText();
  return member->attributeName() != nullptr && member->span() == nullptr &&
         !aggregate_function(name) && functions::find(name) == nullptr;
}

std::optional<AggregateShape> aggregate_shape(Parser::PrimaryContext* primary) {
  auto* outer = primary->member();
  auto* list = outer->arguments()->conditions();
  const auto function = aggregate_function(primary->start->getText());
  if (list == nullptr) return std::nullopt;
  const std::size_t most = function == AggregateFunction::percentile ? 2 : 1;
  if (list->disjunction().size() > most) return std::nullopt;
  auto* argument = primary_of(list->disjunction(0)->conjunction().back());
  if (argument == nullptr || argument->member() == nullptr) return std::nullopt;
  auto* inner = argument->member();
  if (inner->arguments() == nullptr) return std::nullopt;
  AggregateShape shape;
  if (!take_types(list->disjunction(0), shape)) return std::nullopt;
  shape.types.push_back(argument->attributeName());
  shape.brackets = inner->arguments();
  shape.attribute = inner->attributeName();
  shape.dot = inner->DOT();
  for (auto* span : {inner->span(), outer->span()}) {
    if (span != nullptr) shape.spans.push_back(span);
  }
  if (list->disjunction().size() == 2) {
    shape.comma = list->COMMA(0);
    shape.percent = list->disjunction(1);
  }
  return function || !shape.spans.empty() ? std::optional(shape) : std::nullopt;
}

}  // namespace gorgo::language
