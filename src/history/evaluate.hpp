#pragma once

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

/// The value of a checked expression, `Datum::none()` for no value. Strings refer to the history
/// or to the expression.
Datum evaluate(const Expr& expr, const Scope& scope);

/// Whether a condition holds: no value and false do not.
bool holds(const Expr& condition, const Scope& scope);
bool all_hold(std::span<const Expr> conditions, const Scope& scope);

}  // namespace gorgo::history
