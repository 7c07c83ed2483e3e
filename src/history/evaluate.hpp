#pragma once

#include <algorithm>
#include <span>

#include "gorgo/rule.hpp"
#include "history/event_store.hpp"

namespace gorgo::history {

/// What an expression reads.
struct Scope {
  EventRef candidate;                 ///< the event under test; unset where an expression has none
  std::span<const EventRef> states;   ///< the chosen events, as far as they are bound
  std::span<const Datum> aggregates;  ///< values of Rule::aggregates
};

/// `evaluate` for expressions of any kind.
Datum evaluate_tree(const Expr& expr, const Scope& scope);

/// The value of a checked expression, `Datum::none()` for no value. Strings refer to the history,
/// to the expression, or to the innermost `functions::ComputedTexts`, which must be there for
/// expressions of which `plan::computes_text` holds. Most expressions are a lone attribute or
/// aggregate, which costs no call.
inline Datum evaluate(const Expr& expr, const Scope& scope) {
  if (expr.op == Op::attribute) {
    const EventRef event = expr.source == kCandidate
                               ? scope.candidate
                               : scope.states[static_cast<std::size_t>(expr.source)];
    return event.store->attribute(event.slot, expr.index);
  }
  if (expr.op == Op::aggregate) return scope.aggregates[expr.index];
  return evaluate_tree(expr, scope);
}

/// Whether a condition holds; it does not when it is false or no value.
inline bool holds(const Expr& condition, const Scope& scope) {
  const Datum value = evaluate(condition, scope);
  return value.tag == Datum::Tag::boolean && value.boolean;
}

inline bool all_hold(std::span<const Expr> conditions, const Scope& scope) {
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const Expr& condition) { return holds(condition, scope); });
}

}  // namespace gorgo::history
