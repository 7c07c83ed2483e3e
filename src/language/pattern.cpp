#include <algorithm>
#include <utility>

#include "language/rule_binder.hpp"
#include "language/syntax.hpp"

namespace gorgo::language {
namespace {

/// The latest state that an expression mentions.
std::uint32_t latest_state(const Expr& expr) {
  std::uint32_t latest = expr.source > 0 ? static_cast<std::uint32_t>(expr.source) : 0;
  for (const Expr& arg : expr.args) latest = std::max(latest, latest_state(arg));
  return latest;
}

std::uint32_t completed_at(const Negation& negation) {
  std::uint32_t latest = negation.span.first;
  if (negation.span.kind == SpanKind::between) latest = std::max(latest, negation.span.second);
  for (const Expr& condition : negation.predicate.conditions) {
    latest = std::max(latest, latest_state(condition));
  }
  return latest;
}

}  // namespace

Rule RuleBinder::bind(std::string full_name) {
  rule_.name = std::move(full_name);
  rule_.type = types_.at(*types_.find(ast_.type.text)).type.id;
  rule_.at = ast_.at;
  if (ast_.begin_offset < ast_.end_offset && ast_.end_offset <= source_.text.size()) {
    rule_.text = source_.text.substr(ast_.begin_offset, ast_.end_offset - ast_.begin_offset);
  }
  rule_.aggregates.resize(scope_.aggregate_count());
  bind_annotations();
  bind_pattern();
  bind_where();
  bind_consuming();
  return std::move(rule_);
}

void RuleBinder::bind_pattern() {
  State& terminator = rule_.states.emplace_back();
  terminator.name = scope_.states()[0].name.text;
  if (const auto* timer = std::get_if<ast::Timer>(&ast_.terminator)) {
    bind_timer(*timer);
  } else {
    const auto& predicate = std::get<ast::Predicate>(ast_.terminator);
    terminator.predicate =
        bind_predicate(predicate, {Context::Kind::state, scope_.states()[0].type, 0});
  }
  std::uint32_t states = 1;
  for (const auto& clause : ast_.clauses) {
    if (const auto* state = std::get_if<ast::StateClause>(&clause)) {
      bind_state(*state, states++);
    } else if (const auto* negation = std::get_if<ast::NegationClause>(&clause)) {
      bind_negation(*negation, states);
    } else if (const auto* total = std::get_if<ast::AggregateBinding>(&clause)) {
      bind_total(*total, states);
    } else {
      bind_filter(std::get<ast::FilterClause>(clause), states);
    }
  }
}

void RuleBinder::bind_state(const ast::StateClause& clause, std::uint32_t index) {
  State state;
  state.name = scope_.states()[index].name.text;
  bind_selection(clause, state);
  Context context{Context::Kind::state, scope_.states()[index].type, index, index};
  state.predicate = bind_predicate(clause.predicate, context);
  if (clause.span.kind == SpanKind::after) {
    reporter_.error(clause.span.at, std::string(kForwardLooking),
                    "begin the pattern with the latest event and write `within ... from`");
  } else if (clause.span.kind == SpanKind::between) {
    reporter_.error(clause.span.at, "a state needs `within ... from`, not `between`",
                    "`between ... and` is for negations and aggregates");
  } else {
    const Span span = bind_span(clause.span, index);
    state.reference = span.first;
    state.width = span.width;
  }
  rule_.states.push_back(std::move(state));
}

void RuleBinder::bind_selection(const ast::StateClause& clause, State& state) {
  state.selection = clause.selection;
  const bool counted =
      clause.selection == Selection::k_first || clause.selection == Selection::k_last;
  if (!counted) return;
  if (clause.k < 1) {
    reporter_.error(clause.at, "a selection of " + std::to_string(clause.k) + " events is empty",
                    "write a number of at least 1");
    return;
  }
  state.k = static_cast<std::uint64_t>(clause.k);
}

void RuleBinder::bind_negation(const ast::NegationClause& clause, std::uint32_t earlier) {
  check_no_alias(clause.predicate, "a negation");
  Context context{Context::Kind::negation, *types_.find(clause.predicate.type.text)};
  context.earlier = earlier;
  Negation negation;
  negation.predicate = bind_predicate(clause.predicate, context);
  negation.span = bind_span(clause.span, earlier);
  if (clause.span.kind == SpanKind::after && negation.span.first != 0) {
    reporter_.error(clause.span.first.at, std::string(kForwardLooking),
                    "write `after " + rule_.states[0].name +
                        "`, or look backward with `within ... from` or `between ... and`");
  }
  negation.completed_at = completed_at(negation);
  rule_.negations.push_back(std::move(negation));
}

void RuleBinder::bind_total(const ast::AggregateBinding& binding, std::uint32_t earlier) {
  const Context context{Context::Kind::filter, kNoEntry, 0, earlier};
  const ast::AggregateCall& call = *binding.aggregate;
  Bound left;
  if (binding.left) left = bind_expr(*binding.left, context);
  bind_aggregate(call, earlier);
  rule_.required.push_back(scope_.number_of(&call));
  if (!binding.left) return;
  if (binding.comparison == ast::ExprKind::equal) {
    reporter_.error(binding.at, "`=` cannot stand before `$" + binding.parameter.text + " = ...`",
                    "bind the aggregate in a clause of its own and compare it in a filter");
    return;
  }
  Bound right;
  if (const auto type = type_of_aggregate(call)) {
    right = make_operation(Op::aggregate, *type, {});
    right->index = scope_.number_of(&call);
  }
  ast::Expr comparison;
  comparison.at = binding.at;
  Bound filter =
      compare(comparison, binding.comparison, *binding.left, std::move(left),
              in_quotes("$" + binding.parameter.text), binding.parameter.at, std::move(right));
  if (filter) rule_.filters.push_back({std::move(*filter)});
}

void RuleBinder::bind_filter(const ast::FilterClause& clause, std::uint32_t earlier) {
  Bound condition = bind_condition(clause.condition, {Context::Kind::filter, kNoEntry, 0, earlier});
  if (condition) rule_.filters.push_back({std::move(*condition)});
}

void RuleBinder::check_no_alias(const ast::Predicate& predicate, const std::string& what) {
  if (!predicate.alias) return;
  reporter_.error(predicate.alias->at, what + " declares no name",
                  "leave out `as " + predicate.alias->text + "`; only states can be named");
}

Span RuleBinder::bind_span(const ast::Span& span, std::uint32_t earlier) {
  Span bound;
  bound.kind = span.kind;
  bound.width = span.width;
  bound.first = earlier_state(span.first, earlier);
  if (span.kind != SpanKind::between) {
    check_width(span);
    return bound;
  }
  bound.second = earlier_state(span.second, earlier);
  if (span.first.text == span.second.text) {
    reporter_.error(span.second.at,
                    "nothing lies between " + in_quotes(span.first.text) + " and itself",
                    "name two states, or use `within ... from`");
  }
  return bound;
}

void RuleBinder::check_width(const ast::Span& span) {
  if (span.width > 0) return;
  reporter_.error(span.at, "the window is empty: its width must be greater than 0",
                  "a bare number is milliseconds; intervals are open on both sides");
}

std::uint32_t RuleBinder::earlier_state(const ast::Name& name, std::uint32_t earlier) {
  const auto state = scope_.find_state(name.text);
  if (!state) {
    scope_.explain_unknown_state(name, reporter_);
    return 0;
  }
  if (*state < earlier) return *state;
  reporter_.error(name.at,
                  "the state " + in_quotes(name.text) + " does not come earlier in the text",
                  "windows refer to earlier states: move this clause behind that state");
  return 0;
}

}  // namespace gorgo::language
