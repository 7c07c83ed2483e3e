#include <array>

#include "language/build.hpp"
#include "language/literal.hpp"
#include "language/syntax.hpp"

/// Predicates, clauses, spans and timers.
namespace gorgo::language {

using ast::ExprKind;

ast::Predicate AstBuilder::predicate(Parser::PredicateContext* predicate) {
  ast::Predicate result;
  result.type = name(predicate->typeName());
  result.conditions = conditions(predicate->conditions(), Place::predicate);
  if (predicate->alias() != nullptr) result.alias = name(predicate->alias()->typeName());
  return result;
}

ast::Clause AstBuilder::clause(Parser::ClauseContext* clause) {
  if (clause->comparison() != nullptr) return filter(clause);
  if (clause->selection() != nullptr) return state(clause);
  return negation(clause);
}

ast::StateClause AstBuilder::state(Parser::ClauseContext* clause) {
  auto* selection = clause->selection();
  ast::StateClause state{.at = locate(clause->start)};
  const bool counted = selection->INT() != nullptr;
  if (selection->FIRST() != nullptr) {
    state.selection = counted ? Selection::k_first : Selection::first;
  } else if (selection->LAST() != nullptr) {
    state.selection = counted ? Selection::k_last : Selection::last;
  }
  if (counted) {
    state.k = std::get<std::int64_t>(integer(selection->INT()->getSymbol(), false));
    if (state.k < 1) {
      reporter_.error(state.at, "at least one event must be selected", "write 1 or more");
    }
  }
  state.predicate = predicate(clause->predicate());
  refuse_timer(state.predicate);
  state.span = span(clause->span());
  if (state.span.kind == SpanKind::after) {
    reporter_.error(state.span.at, std::string(kForwardLooking),
                    "begin the pattern with the latest event and write `within ... from`");
  } else if (state.span.kind == SpanKind::between) {
    reporter_.error(state.span.at, "a state looks back from an earlier one",
                    "write `within DURATION from STATE`");
  }
  return state;
}

ast::NegationClause AstBuilder::negation(Parser::ClauseContext* clause) {
  ast::NegationClause negation{.at = locate(clause->start)};
  negation.predicate = predicate(clause->predicate());
  refuse_timer(negation.predicate);
  if (negation.predicate.alias) {
    reporter_.error(negation.predicate.alias->at, "a negation declares no name",
                    "leave out " + in_quotes("as " + negation.predicate.alias->text));
  }
  negation.span = span(clause->span());
  return negation;
}

ast::Clause AstBuilder::filter(Parser::ClauseContext* clause) {
  place_ = Place::filter;
  if (is_aggregate_binding(clause->comparison())) return aggregate_binding(clause->comparison());
  return ast::FilterClause{.at = locate(clause->start),
                           .condition = comparison(clause->comparison()).expr};
}

ast::Span AstBuilder::span(Parser::SpanContext* span) {
  ast::Span result{.at = locate(span->start)};
  result.first = name(span->typeName(0));
  if (span->BETWEEN() != nullptr) {
    result.kind = SpanKind::between;
    result.second = name(span->typeName(1));
  } else {
    result.kind = span->FROM() != nullptr ? SpanKind::within : SpanKind::after;
    result.width = window(span->window());
  }
  return result;
}

Duration AstBuilder::window(Parser::WindowContext* window) {
  constexpr Duration kMillisecond = 1'000'000;
  const auto count = std::get<std::int64_t>(integer(window->INT()->getSymbol(), false));
  const Duration length = window->unit() == nullptr ? kMillisecond : unit(window->unit());
  Duration width = 0;
  // A window longer than time itself is no mistake: windows saturate.
  if (__builtin_mul_overflow(count, length, &width)) width = std::numeric_limits<Duration>::max();
  return width;
}

void AstBuilder::refuse_timer(const ast::Predicate& predicate) {
  if (lower_case(predicate.type.text) != "timer") return;
  reporter_.error(predicate.type.at, "`Timer` may only be the terminator",
                  "write it directly behind `from`");
}

namespace {

/// One `field = number` of a timer.
struct TimerField {
  std::string name;
  std::int64_t number = 0;
  bool is_duration = false;
};

std::optional<TimerField> timer_field(const ast::Expr& condition) {
  if (condition.kind != ExprKind::equal) return std::nullopt;
  const ast::Expr& left = condition.children[0];
  const ast::Expr& right = condition.children[1];
  const auto* number = std::get_if<std::int64_t>(&right.value);
  if (left.kind != ExprKind::attribute || number == nullptr) return std::nullopt;
  return TimerField{lower_case(left.name.text), *number, right.kind == ExprKind::duration};
}

/// Sets the field; returns what is wrong with it, or nothing.
const char* set_timer_field(ast::Timer& timer, const TimerField& field) {
  constexpr Duration kMillisecond = 1'000'000;
  if (field.name == "every") {
    if (timer.every) return "`every` is given twice";
    if (field.number <= 0) return "the period of a timer is positive";
    Duration period = field.number;
    if (!field.is_duration && __builtin_mul_overflow(field.number, kMillisecond, &period)) {
      period = std::numeric_limits<Duration>::max();
    }
    timer.every = period;
    return nullptr;
  }
  const bool is_hour = field.name == "hour";
  auto& part = is_hour ? timer.hour : field.name == "minute" ? timer.minute : timer.second;
  if (part) return "a field of the timer is given twice";
  if (field.is_duration) return "a field of the time of day is a plain number";
  if (field.number < 0 || field.number > (is_hour ? 23 : 59)) {
    return is_hour ? "the hour is 0 to 23" : "minutes and seconds are 0 to 59";
  }
  part = field.number;
  return nullptr;
}

}  // namespace

ast::Timer AstBuilder::timer(const ast::Predicate& predicate) {
  static constexpr const char* kForms =
      "write `Timer(every = 1 min)` or `Timer(hour = 9, minute = 0)`";
  ast::Timer timer{.at = predicate.type.at};
  if (predicate.alias) {
    reporter_.error(predicate.alias->at, "a timer takes no alias", "leave out `as`");
  }
  if (predicate.conditions.empty()) {
    reporter_.error(timer.at, "a timer needs to say when", kForms);
  }
  for (const auto& condition : predicate.conditions) {
    const auto field = timer_field(condition);
    const bool known = field && (field->name == "every" || field->name == "hour" ||
                                 field->name == "minute" || field->name == "second");
    if (!known) {
      reporter_.error(condition.at, "this is no field of a timer", kForms);
    } else if (const char* problem = set_timer_field(timer, *field); problem != nullptr) {
      reporter_.error(condition.at, problem, kForms);
    }
  }
  if (timer.every && (timer.hour || timer.minute || timer.second)) {
    reporter_.error(timer.at, "`every` does not go with a time of day", kForms);
  }
  return timer;
}

}  // namespace gorgo::language
