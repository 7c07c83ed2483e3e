#include <algorithm>
#include <array>
#include <optional>

#include "language/build.hpp"
#include "language/literal.hpp"

/// Conditions and aggregates.
namespace gorgo::language {

using ast::ExprKind;
using Parser = grammar::TeslaParser;

namespace {

/// The primary that the whole of `sum` consists of, if it does.
Parser::PrimaryContext* lone_primary(Parser::SumContext* sum) {
  const auto products = sum->product();
  if (products.size() != 1) return nullptr;
  const auto factors = products[0]->factor();
  if (factors.size() != 1 || !factors[0]->MINUS().empty()) return nullptr;
  return factors[0]->primary();
}

std::optional<AggregateFunction> aggregate_function(const std::string& word) {
  static constexpr std::array<std::pair<const char*, AggregateFunction>, 5> kFunctions = {
      {{"avg", AggregateFunction::avg},
       {"sum", AggregateFunction::sum},
       {"min", AggregateFunction::min},
       {"max", AggregateFunction::max},
       {"count", AggregateFunction::count}}};
  const std::string lower = lower_case(word);
  const auto* found =
      std::ranges::find_if(kFunctions, [&](const auto& pair) { return lower == pair.first; });
  return found == kFunctions.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::vector<ast::Expr> AstBuilder::conditions(Parser::ConditionsContext* list, Place place) {
  std::vector<ast::Expr> result;
  if (list == nullptr) return result;
  const Place around = std::exchange(place_, place);
  for (auto* condition : list->disjunction()) {
    result.push_back(disjunction(condition).expr);
  }
  place_ = around;
  return result;
}

AstBuilder::Tree AstBuilder::disjunction(Parser::DisjunctionContext* disjunction) {
  std::vector<Tree> operands;
  for (auto* operand : disjunction->conjunction()) operands.push_back(conjunction(operand));
  return balanced(ExprKind::logical_or, disjunction->OR(), operands, 0, operands.size());
}

AstBuilder::Tree AstBuilder::conjunction(Parser::ConjunctionContext* conjunction) {
  std::vector<Tree> operands;
  for (auto* operand : conjunction->inversion()) operands.push_back(inversion(operand));
  return balanced(ExprKind::logical_and, conjunction->AND(), operands, 0, operands.size());
}

/// A long chain becomes a tree of logarithmic height; the operands keep their order.
AstBuilder::Tree AstBuilder::balanced(ExprKind kind,
                                      const std::vector<antlr4::tree::TerminalNode*>& operators,
                                      std::vector<Tree>& operands, std::size_t begin,
                                      std::size_t end) {
  if (end - begin == 1) return std::move(operands[begin]);
  const std::size_t middle = begin + (end - begin) / 2;
  std::vector<Tree> sides;
  sides.push_back(balanced(kind, operators, operands, begin, middle));
  sides.push_back(balanced(kind, operators, operands, middle, end));
  return combine(kind, operators[middle - 1]->getSymbol(), std::move(sides));
}

AstBuilder::Tree AstBuilder::inversion(Parser::InversionContext* inversion) {
  Tree result = comparison(inversion->comparison());
  auto negations = inversion->NOT();
  while (!negations.empty()) {
    std::vector<Tree> side;
    side.push_back(std::move(result));
    result = combine(ExprKind::logical_not, negations.back()->getSymbol(), std::move(side));
    negations.pop_back();
  }
  return result;
}

AstBuilder::Tree AstBuilder::comparison(Parser::ComparisonContext* comparison) {
  const auto operands = comparison->sum();
  const auto comparators = comparison->comparator();
  if (comparators.size() > 1) {
    reporter_.error(locate(comparators[1]->start), "comparisons do not chain",
                    "combine two comparisons with `and`");
  }
  Tree result = sum(operands[0]);
  if (!comparators.empty()) {
    result = compare(comparators[0], std::move(result), sum(operands[1]));
  }
  if (const auto stated = stated_type(comparison)) result.expr.stated_type = stated;
  return result;
}

std::optional<ValueType> AstBuilder::stated_type(Parser::ComparisonContext* comparison) {
  auto* stated = comparison->statedType();
  return stated == nullptr ? std::nullopt : std::optional(type_of_word(stated->valueType()));
}

ExprKind AstBuilder::comparator(Parser::ComparatorContext* comparator) {
  switch (comparator->start->getType()) {
    case Parser::EQUAL:
      return ExprKind::equal;
    case Parser::NOT_EQUAL:
      return ExprKind::not_equal;
    case Parser::LESS:
      return ExprKind::less;
    case Parser::LESS_EQUAL:
      return ExprKind::less_equal;
    case Parser::GREATER:
      return ExprKind::greater;
    case Parser::GREATER_EQUAL:
      return ExprKind::greater_equal;
    case Parser::CONTAINS:
      return ExprKind::contains;
    default:
      return ExprKind::bind;
  }
}

AstBuilder::Tree AstBuilder::compare(Parser::ComparatorContext* op, Tree left, Tree right) {
  const ExprKind kind = comparator(op);
  require_value(left.expr);
  require_value(right.expr);
  if (kind == ExprKind::bind) {
    const bool binds =
        left.expr.kind == ExprKind::attribute && right.expr.kind == ExprKind::parameter;
    if (!binds) {
      reporter_.error(locate(op->start), "`=>` binds an attribute to a parameter",
                      "write `attribute => $parameter`, or `>=` to compare");
    } else if (place_ == Place::filter || place_ == Place::where) {
      reporter_.error(locate(op->start), "`=>` stands only in the brackets of a state");
    }
  }
  std::vector<Tree> sides;
  sides.push_back(std::move(left));
  sides.push_back(std::move(right));
  return combine(kind, op->start, std::move(sides));
}

bool AstBuilder::is_aggregate_binding(Parser::ComparisonContext* comparison) {
  const auto operands = comparison->sum();
  if (operands.size() < 2 || operands.size() > 3) return false;
  if (comparator(comparison->comparator().back()) != ExprKind::equal) return false;
  auto* parameter = lone_primary(operands[operands.size() - 2]);
  auto* call = lone_primary(operands.back());
  return parameter != nullptr && parameter->PARAMETER() != nullptr && call != nullptr &&
         call->member() != nullptr && call->member()->aggregate() != nullptr;
}

ast::AggregateBinding AstBuilder::aggregate_binding(Parser::ComparisonContext* comparison) {
  const auto operands = comparison->sum();
  auto* parameter = operands[operands.size() - 2];
  auto* call = lone_primary(operands.back());
  ast::AggregateBinding binding;
  binding.at = locate(comparison->start);
  if (operands.size() == 3) {
    auto* op = comparison->comparator(0);
    binding.left = sum(operands[0]).expr;
    require_value(*binding.left);
    binding.comparison = comparator(op);
    if (binding.comparison == ExprKind::equal || binding.comparison == ExprKind::bind) {
      reporter_.error(locate(op->start),
                      "before `$parameter = AGGREGATE` stands any comparison but `=`",
                      "bind the aggregate first and compare it in a filter of its own");
    }
    binding.left->stated_type = stated_type(comparison);
  } else if (auto* stated = comparison->statedType(); stated != nullptr) {
    reporter_.error(locate(stated->start), "an aggregate takes no `[type]`",
                    "its type follows from its attribute");
  }
  binding.parameter = {parameter->start->getText().substr(1), locate(parameter->start)};
  binding.aggregate = aggregate(call->start, call->member()->aggregate());
  return binding;
}

std::shared_ptr<ast::AggregateCall> AstBuilder::aggregate(antlr4::Token* function,
                                                          Parser::AggregateContext* call) {
  auto result = std::make_shared<ast::AggregateCall>();
  result->at = locate(function);
  const std::string word = function->getText();
  const auto known = aggregate_function(word);
  if (!known) {
    reporter_.error(result->at, "unknown aggregate " + in_quotes(word),
                    reporter_.suggest(word, {"avg", "sum", "min", "max", "count"},
                                      "the aggregates are avg, sum, min, max and count; a state "
                                      "begins with `each`, `first` or `last`"));
    return result;
  }
  require_aggregate_place(function);
  result->function = *known;
  result->predicate.type = name(call->typeName());
  result->predicate.conditions = conditions(call->conditions(), Place::aggregate);
  refuse_timer(result->predicate);
  if (call->attributeName() != nullptr) {
    result->attribute = name(call->attributeName());
  } else if (*known != AggregateFunction::count) {
    reporter_.error(
        result->at, "`" + word + "` needs an attribute",
        "write " + in_quotes(word + "(" + result->predicate.type.text + "(...).attribute ...)"));
  }
  const auto spans = call->span();
  if (spans.size() == 1) {
    result->span = span(spans[0]);
  } else {
    reporter_.error(
        result->at,
        spans.empty() ? "an aggregate needs a span" : "an aggregate takes one span only",
        "write `within ... from X` or `between X and Y`, inside or behind the brackets");
  }
  return result;
}

void AstBuilder::require_aggregate_place(const antlr4::Token* function) {
  if (place_ == Place::aggregate) {
    reporter_.error(locate(function), "aggregates do not nest",
                    "bind the inner one: `and $t = ...`");
  } else if (place_ == Place::predicate || place_ == Place::subscription) {
    reporter_.error(locate(function), "an aggregate cannot stand in the brackets of a predicate",
                    "compare it in a filter: `and X.attribute > " + function->getText() + "(...)`");
  }
}

}  // namespace gorgo::language
