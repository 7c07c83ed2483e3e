#include "language/build_aggregate.hpp"

#include <optional>
#include <utility>

#include "language/build_span.hpp"
#include "language/build_timer.hpp"
#include "language/foreign_words.hpp"

namespace gorgo::language {

using ast::ExprKind;

std::shared_ptr<ast::AggregateCall> AggregateBuilder::call(antlr4::Token* function,
                                                           const AggregateShape& call) {
  auto result = std::make_shared<ast::AggregateCall>();
  result->at = tokens_.locate(function);
  const std::string word = function->getText();
  const auto known = aggregate_function(word);
  if (!known) {
    const std::string meant = hint_for_function(word);
    reporter_.error(result->at, "unknown aggregate " + in_quotes(word),
                    !meant.empty()
                        ? meant
                        : reporter_.suggest(word, aggregate_names(),
                                            "`gorgo functions` lists aggregates; a state "
                                            "begins with `each`, `first` or `last`"));
    return result;
  }
  check_place(function);
  result->function = *known;
  tokens_.read_types(call.types, result->predicate);
  result->predicate.conditions =
      ExpressionBuilder(Place::aggregate, reporter_).conditions(call.brackets->conditions());
  refuse_timer(result->predicate, reporter_);
  attribute(word, call, *result);
  percent(call, *result);
  span(call, *result);
  return result;
}

void AggregateBuilder::attribute(const std::string& word, const AggregateShape& call,
                                 ast::AggregateCall& result) {
  if (call.attribute != nullptr) {
    result.attribute = tokens_.name(call.attribute);
  } else if (result.function != AggregateFunction::count) {
    reporter_.error(
        result.at, "`" + word + "` needs an attribute",
        "write " + in_quotes(word + "(" + result.predicate.type.text + "(...).attribute ...)"));
  }
}

/// Reads the `95` of `Percentile(Temp().value within 5 min from Smoke, 95)`.
void AggregateBuilder::percent(const AggregateShape& call, ast::AggregateCall& result) {
  if (result.function != AggregateFunction::percentile) return;
  if (call.percent != nullptr) {
    auto* literal = lone_primary(call.percent);
    if (literal != nullptr && literal->attributeName() != nullptr && literal->member() == nullptr) {
      return reporter_.error(tokens_.locate(literal->start), "`Percentile` takes no constants",
                             "write a number from 0 to 100");
    }
    const bool whole =
        literal != nullptr && literal->INT() != nullptr && literal->unit() == nullptr;
    if (whole) {
      result.percent = static_cast<double>(tokens_.integer(literal->start));
    } else if (literal != nullptr && literal->FLOAT() != nullptr) {
      result.percent = tokens_.floating(literal->start, false);
    } else {
      result.percent = -1;
    }
    if (result.percent >= 0 && result.percent <= 100) return;
  }
  reporter_.error(result.at, "`Percentile` needs a number from 0 to 100",
                  "write " + in_quotes("Percentile(" + result.predicate.type.text +
                                       "(...).attribute within ... from ..., 95)"));
}

void AggregateBuilder::span(const AggregateShape& call, ast::AggregateCall& result) {
  const auto& spans = call.spans;
  if (spans.size() == 1) {
    result.span = build_span(spans[0], reporter_);
  } else {
    reporter_.error(
        result.at, spans.empty() ? "an aggregate needs a span" : "an aggregate takes one span only",
        "write `within ... from X` or `between X and Y`, inside or behind the brackets");
  }
}

void AggregateBuilder::check_place(const antlr4::Token* function) {
  if (place_ == Place::aggregate) {
    reporter_.error(tokens_.locate(function), "aggregates do not nest",
                    "bind the inner one: `and $t = ...`");
  } else if (place_ == Place::predicate || place_ == Place::subscription) {
    reporter_.error(tokens_.locate(function),
                    "an aggregate cannot stand in the brackets of a predicate",
                    "compare it in a filter: `and X.attribute > " + function->getText() + "(...)`");
  }
}

bool AggregateBuilder::is_binding(Parser::ComparisonContext* comparison) {
  const auto operands = comparison->sum();
  if (operands.size() < 2 || operands.size() > 3 || !comparison->IN().empty()) return false;
  if (kind_of(comparison->comparator().back()) != ExprKind::equal) return false;
  auto* parameter = lone_primary(operands[operands.size() - 2]);
  auto* call = lone_primary(operands.back());
  return parameter != nullptr && parameter->PARAMETER() != nullptr && call != nullptr &&
         is_call(call) && (aggregate_shape(call).has_value() || is_lookup(call));
}

ast::AggregateBinding AggregateBuilder::binding(Parser::ComparisonContext* comparison) {
  const auto operands = comparison->sum();
  auto* parameter = operands[operands.size() - 2];
  auto* value = lone_primary(operands.back());
  ast::AggregateBinding binding;
  binding.at = tokens_.locate(comparison->start);
  if (operands.size() == 3) {
    compared_value(comparison, binding);
  } else if (auto* stated = comparison->statedType(); stated != nullptr) {
    reporter_.error(tokens_.locate(stated->start), "an aggregate takes no `[type]`",
                    "its type follows from its attribute");
  }
  binding.parameter = {parameter->start->getText().substr(1), tokens_.locate(parameter->start)};
  const auto shape = aggregate_shape(value);
  binding.aggregate = shape ? call(value->start, *shape)
                            : ExpressionBuilder(place_, reporter_).value(operands.back()).aggregate;
  return binding;
}

/// Builds the `expr cmp` of `expr cmp $t = AGG(...)`.
void AggregateBuilder::compared_value(Parser::ComparisonContext* comparison,
                                      ast::AggregateBinding& binding) {
  auto* op = comparison->comparator(0);
  binding.left = ExpressionBuilder(place_, reporter_).value(comparison->sum(0));
  require_value(*binding.left, reporter_);
  binding.comparison = kind_of(op);
  if (binding.comparison == ExprKind::equal || binding.comparison == ExprKind::bind) {
    reporter_.error(tokens_.locate(op->start),
                    "before `$parameter = AGGREGATE` stands any comparison but `=`",
                    "bind the aggregate first and compare it in a filter of its own");
  }
  binding.left->stated_type = stated_type(comparison, reporter_);
}

}  // namespace gorgo::language
