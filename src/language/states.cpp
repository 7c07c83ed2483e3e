#include "language/states.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "language/syntax.hpp"

namespace gorgo::language {

State StateBinder::bind_terminator(const ast::RuleDefinition& rule) {
  State terminator;
  terminator.name = scope_.states()[0].name.text;
  if (const auto* predicate = std::get_if<ast::Predicate>(&rule.terminator)) {
    terminator.predicate = predicates_.bind_state(*predicate, 0);
  }
  return terminator;
}

Every StateBinder::bind_every(const ast::Every& every, State& terminator) {
  if (every.events < 1) {
    reporter_.error(every.at, "`every` counts at least one event", "write 1 or more");
  }
  return {.events = static_cast<std::uint64_t>(every.events),
          .per = bind_keys(every.per, 0, terminator.predicate)};
}

namespace {

/// Whether the condition reads more of the event under test than these attributes.
bool reads_beside(const Expr& expr, const std::vector<std::uint32_t>& key) {
  const bool is_read = expr.source == kCandidate &&
                       (expr.op == Op::timestamp ||
                        (expr.op == Op::attribute && std::ranges::count(key, expr.index) == 0));
  return is_read ||
         std::ranges::any_of(expr.args, [&](const Expr& arg) { return reads_beside(arg, key); });
}

/// Has the condition speak of a state instead of the event under test.
void put_state(Expr& expr, std::uint32_t state) {
  const bool reads = expr.op == Op::attribute || expr.op == Op::timestamp || expr.op == Op::present;
  if (reads && expr.source == kCandidate) expr.source = static_cast<std::int32_t>(state);
  for (Expr& arg : expr.args.own()) put_state(arg, state);
}

}  // namespace

State StateBinder::bind(const ast::StateClause& clause, std::uint32_t index) {
  State state;
  state.name = scope_.states()[index].name.text;
  if (clause.table) {
    bind_row(clause, index, state);
    return state;
  }
  bind_selection(clause, state);
  state.predicate = predicates_.bind_state(clause.predicate, index);
  bind_keys(clause, index, state);
  bind_number(clause, state);
  bind_window(clause.span, index, state);
  return state;
}

/// The rows of a table are the newest of each key. A condition on the key says which keys are
/// meant; any other is tested on the row, since what it replaced is no row.
void StateBinder::bind_row(const ast::StateClause& clause, std::uint32_t index, State& state) {
  state.table = true;
  state.selection = Selection::last;
  state.width = std::numeric_limits<Duration>::max();
  state.predicate = predicates_.bind_state(clause.predicate, index);
  const auto key = predicates_.key_of_table(scope_.states()[index].type, clause.predicate.type);
  auto& conditions = state.predicate.conditions;
  const auto tests =
      std::stable_partition(conditions.begin(), conditions.end(),
                            [&](const Expr& condition) { return !reads_beside(condition, key); });
  for (auto test = tests; test != conditions.end(); ++test) {
    put_state(*test, index);
    row_tests_.push_back({std::move(*test)});
  }
  conditions.erase(tests, conditions.end());
  const bool is_one = std::ranges::all_of(key, [&](std::uint32_t attribute) {
    return std::ranges::any_of(
        conditions, [&](const Expr& condition) { return gives_key(condition, attribute); });
  });
  if (!is_one) state.per = key;
}

void StateBinder::bind_selection(const ast::StateClause& clause, State& state) {
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

void StateBinder::bind_keys(const ast::StateClause& clause, std::uint32_t index, State& state) {
  if (clause.per.empty()) return;
  if (clause.selection == Selection::each) {
    return reporter_.error(clause.per.front().at,
                           "`each` takes every event, so there is nothing to choose per key",
                           "write `last` or `first`: one event of each key");
  }
  state.per = bind_keys(clause.per, index, state.predicate);
}

/// An event that lacks an attribute of the key does not pass, as if a parameter was bound to it.
std::vector<std::uint32_t> StateBinder::bind_keys(const std::vector<ast::Expr>& per,
                                                  std::uint32_t index, Predicate& predicate) {
  std::vector<std::uint32_t> keys;
  auto& conditions = predicate.conditions;
  for (const ast::Expr& key : per) {
    Bound attribute = predicates_.bind_key(key, index);
    if (!attribute) continue;
    keys.push_back(attribute->index);
    const bool known = std::ranges::any_of(conditions, [&](const Expr& condition) {
      return condition.op == Op::present && condition.index == attribute->index;
    });
    attribute->op = Op::present;
    attribute->type = ValueType::boolean;
    if (!known) conditions.insert(conditions.begin(), std::move(*attribute));
  }
  return keys;
}

/// The newest so many events of a window are what `k-last` selects.
void StateBinder::bind_number(const ast::StateClause& clause, State& state) {
  const auto newest = windows_.newest(clause.span);
  if (!newest) return;
  if (clause.span.of_all) {
    state.among = newest;
    return;
  }
  switch (clause.selection) {
    case Selection::each:
      state.selection = Selection::k_last;
      state.k = *newest;
      return;
    case Selection::last:
      reporter_.warning(clause.span.at,
                        "`last` takes one event, so a number of events changes nothing",
                        "leave it out; those among the newest events of the type are `within " +
                            std::to_string(*newest) + " of all events`");
      return;
    case Selection::k_last:
      state.k = std::min(state.k, *newest);
      return;
    case Selection::first:
    case Selection::k_first:
      reporter_.error(clause.at, "`first` does not go with a number of events",
                      "take `each` of them, or a window that is a time or begins with `20 of all "
                      "events`");
  }
}

void StateBinder::bind_window(const ast::Span& span, std::uint32_t index, State& state) {
  if (span.kind == SpanKind::after) {
    return reporter_.error(span.at, std::string(kForwardLooking),
                           "begin the pattern with the latest event and write `within ... from`");
  }
  if (span.kind == SpanKind::between) {
    return reporter_.error(span.at, "a state needs `within ... from`, not `between`",
                           "`between ... and` is for negations and aggregates");
  }
  const Span window = windows_.bind(span, index);
  state.reference = window.first;
  state.width = window.width;
}

}  // namespace gorgo::language
