#include "language/call_shape.hpp"

namespace gorgo::language {
namespace {

using Parser = grammar::TeslaParser;

bool begins_with_dot(Parser::MemberContext* member) {
  return member->start->getType() == Parser::DOT;
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
  if (conjunctions.size() != 1) return nullptr;
  const auto inversions = conjunctions[0]->inversion();
  if (inversions.size() != 1 || !inversions[0]->NOT().empty()) return nullptr;
  auto* comparison = inversions[0]->comparison();
  const bool is_lone = comparison->sum().size() == 1 && comparison->IN().empty();
  if (!is_lone || comparison->statedType() != nullptr) return nullptr;
  return lone_primary(comparison->sum(0));
}

bool is_call(Parser::PrimaryContext* primary) {
  auto* member = primary->member();
  return member != nullptr && member->arguments() != nullptr && !begins_with_dot(member);
}

std::optional<AggregateShape> aggregate_shape(Parser::PrimaryContext* primary) {
  auto* outer = primary->member();
  auto* list = outer->arguments()->conditions();
  const auto function = aggregate_function(primary->start->getText());
  if (list == nullptr) return std::nullopt;
  const std::size_t most = function == AggregateFunction::percentile ? 2 : 1;
  if (list->disjunction().size() > most) return std::nullopt;
  auto* argument = lone_primary(list->disjunction(0));
  if (argument == nullptr || argument->member() == nullptr) return std::nullopt;
  auto* inner = argument->member();
  if (inner->arguments() == nullptr) return std::nullopt;
  AggregateShape shape{.type = argument->attributeName(),
                       .brackets = inner->arguments(),
                       .attribute = inner->attributeName(),
                       .dot = inner->DOT()};
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
