#include "language/build_pattern.hpp"

#include <string>
#include <utility>

#include "language/build_aggregate.hpp"
#include "language/build_expression.hpp"
#include "language/build_span.hpp"
#include "language/build_timer.hpp"
#include "language/syntax.hpp"

namespace gorgo::language {

ast::Predicate PatternBuilder::predicate(Parser::PredicateContext* predicate) {
  ast::Predicate result;
  tokens_.read_types(predicate->typeName(), result);
  result.conditions =
      ExpressionBuilder(Place::predicate, reporter_).conditions(predicate->conditions());
  if (predicate->alias() != nullptr) result.alias = tokens_.name(predicate->alias()->typeName());
  return result;
}

ast::Every PatternBuilder::every(Parser::TerminatorContext* terminator) {
  ast::Every every{.at = tokens_.locate(terminator->start)};
  if (terminator->INT() != nullptr) {
    every.events = tokens_.integer(terminator->INT()->getSymbol());
  } else {
    auto* name = terminator->constantName()->start;
    every.constant = {name->getText(), tokens_.locate(name)};
  }
  if (terminator->per() != nullptr) every.per = keys(terminator->per());
  return every;
}

ast::Clause PatternBuilder::clause(Parser::ClauseContext* clause) {
  if (clause->comparison() != nullptr) return filter(clause);
  if (clause->TABLE() != nullptr) return table(clause);
  if (clause->selection() != nullptr) return state(clause);
  return negation(clause);
}

ast::StateClause PatternBuilder::state(Parser::ClauseContext* clause) {
  ast::StateClause state{.at = tokens_.locate(clause->start)};
  selection(clause->selection(), state);
  state.predicate = predicate(clause->predicate());
  refuse_timer(state.predicate, reporter_);
  if (clause->per() != nullptr) state.per = keys(clause->per());
  state.span = build_span(clause->span(), reporter_);
  if (state.span.kind == SpanKind::after) {
    reporter_.error(state.span.at, std::string(kForwardLooking),
                    "begin the pattern with the latest event and write `within ... from`");
  } else if (state.span.kind == SpanKind::between) {
    reporter_.error(state.span.at, "a state looks back from an earlier one",
                    "write `within DURATION from STATE`");
  }
  return state;
}

/// `table Customer(id = $c) as c`
ast::StateClause PatternBuilder::table(Parser::ClauseContext* clause) {
  ast::StateClause state{.at = tokens_.locate(clause->start), .selection = Selection::last};
  state.table = true;
  state.predicate = predicate(clause->predicate());
  refuse_timer(state.predicate, reporter_);
  if (!state.predicate.any_of.empty()) {
    reporter_.error(state.predicate.type.at, "a state is of one table",
                    "write a state for each: `and table A() and table B()`");
  }
  return state;
}

void PatternBuilder::selection(Parser::SelectionContext* selection, ast::StateClause& state) {
  const bool counted = selection->INT() != nullptr;
  if (selection->FIRST() != nullptr) {
    state.selection = counted ? Selection::k_first : Selection::first;
  } else if (selection->LAST() != nullptr) {
    state.selection = counted ? Selection::k_last : Selection::last;
  }
  if (!counted) return;
  state.k = tokens_.integer(selection->INT()->getSymbol());
  if (state.k >= 1) return;
  reporter_.error(state.at, "at least one event must be selected", "write 1 or more");
}

std::vector<ast::Expr> PatternBuilder::keys(Parser::PerContext* per) {
  std::vector<ast::Expr> keys;
  for (auto* attribute : per->attributeName()) {
    ast::Name name = tokens_.name(attribute);
    keys.push_back({.kind = ast::ExprKind::attribute, .at = name.at, .name = std::move(name)});
  }
  return keys;
}

ast::NegationClause PatternBuilder::negation(Parser::ClauseContext* clause) {
  ast::NegationClause negation{.at = tokens_.locate(clause->start)};
  negation.predicate = predicate(clause->predicate());
  refuse_timer(negation.predicate, reporter_);
  if (negation.predicate.alias) {
    reporter_.error(negation.predicate.alias->at, "a negation declares no name",
                    "leave out " + in_quotes("as " + negation.predicate.alias->text));
  }
  negation.span = build_span(clause->span(), reporter_);
  return negation;
}

ast::Clause PatternBuilder::filter(Parser::ClauseContext* clause) {
  auto* comparison = clause->comparison();
  if (AggregateBuilder::is_binding(comparison)) {
    return AggregateBuilder(Place::filter, reporter_).binding(comparison);
  }
  return ast::FilterClause{
      .at = tokens_.locate(clause->start),
      .condition = ExpressionBuilder(Place::filter, reporter_).condition(comparison)};
}

}  // namespace gorgo::language
