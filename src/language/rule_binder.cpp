#include "language/rule_binder.hpp"

#include <utility>
#include <variant>

#include "language/annotations.hpp"
#include "language/output_limit.hpp"
#include "language/timers.hpp"

namespace gorgo::language {

RuleBinder::RuleBinder(const ast::RuleDefinition& definition, const Scope& scope,
                       const FileContext& file)
    : ast_(definition),
      file_(file),
      references_(scope, file.types, file.inference, file.reporter),
      expressions_(scope, references_, file.reporter,
                   [this](const ast::AggregateCall& call, std::uint32_t earlier) {
                     aggregates_.bind(call, earlier);
                   }),
      predicates_(scope, file.types, expressions_, file.reporter),
      windows_(scope, file.reporter),
      states_(scope, predicates_, windows_, file.reporter),
      negations_(scope, predicates_, windows_, file.reporter),
      aggregates_(scope, references_, expressions_, predicates_, windows_, file.reporter),
      composite_(definition, scope, expressions_, file.reporter) {}

Rule RuleBinder::bind(std::string full_name) {
  rule_.name = std::move(full_name);
  rule_.type = file_.types.at(*file_.types.find(ast_.type.text)).type.id;
  rule_.at = ast_.at;
  rule_.text = written();
  rule_.options = bind_annotations(ast_.annotations, file_.reporter);
  if (const auto* timer = std::get_if<ast::Timer>(&ast_.terminator)) {
    rule_.timer = bind_timer(*timer, file_.reporter);
  }
  rule_.states.push_back(states_.bind_terminator(ast_));
  if (ast_.every) rule_.every = states_.bind_every(*ast_.every, rule_.states[0]);
  for (const auto& clause : ast_.clauses) bind_clause(clause);
  rule_.assignments = composite_.bind_values();
  rule_.order = composite_.bind_order();
  rule_.limit = composite_.bind_limit();
  rule_.at_most = bind_output_limit(ast_, file_.reporter);
  rule_.consuming = composite_.bind_consumed();
  rule_.actions = composite_.bind_actions();
  aggregates_.give(rule_);
  test_rows_apart();
  return std::move(rule_);
}

/// A row is what its table has, so no absence has part in its choice: it is tested on the row that
/// there is, as a count of 0.
void RuleBinder::test_rows_apart() {
  const auto is_test = [this](const Negation& negation) {
    return negation.span.kind != SpanKind::after && rule_.states[negation.completed_at].table;
  };
  for (Negation& negation : rule_.negations) {
    if (!is_test(negation)) continue;
    Expr count, none, condition;
    count.op = Op::aggregate;
    count.index = static_cast<std::uint32_t>(rule_.aggregates.size());
    none.constant = std::int64_t{0};
    condition.op = Op::equal;
    condition.type = ValueType::boolean;
    condition.args = {std::move(count), std::move(none)};
    rule_.filters.push_back({std::move(condition)});
    Aggregate& counted = rule_.aggregates.emplace_back();
    counted.predicate = std::move(negation.predicate);
    counted.span = negation.span;
  }
  std::erase_if(rule_.negations, is_test);
}

void RuleBinder::bind_clause(const ast::Clause& clause) {
  const auto earlier = static_cast<std::uint32_t>(rule_.states.size());
  if (const auto* state = std::get_if<ast::StateClause>(&clause)) {
    rule_.states.push_back(states_.bind(*state, earlier));
    for (Filter& test : states_.take_row_tests()) rule_.filters.push_back(std::move(test));
  } else if (const auto* negation = std::get_if<ast::NegationClause>(&clause)) {
    rule_.negations.push_back(negations_.bind(*negation, earlier));
  } else if (const auto* total = std::get_if<ast::AggregateBinding>(&clause)) {
    add_filter(aggregates_.bind_total(*total, earlier));
  } else {
    const ast::Expr& condition = std::get<ast::FilterClause>(clause).condition;
    add_filter(
        expressions_.bind_condition(condition, {Context::Kind::filter, kNoEntry, 0, earlier}));
  }
}

void RuleBinder::add_filter(Bound condition) {
  if (condition) rule_.filters.push_back({std::move(*condition)});
}

/// The rule as it stands in its file; nothing when it was built without text.
std::string RuleBinder::written() const {
  const std::string& text = file_.source.text;
  if (ast_.begin_offset >= ast_.end_offset || ast_.end_offset > text.size()) return {};
  return text.substr(ast_.begin_offset, ast_.end_offset - ast_.begin_offset);
}

}  // namespace gorgo::language
