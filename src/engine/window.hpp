#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "base/arithmetic.hpp"
#include "engine/rule_state.hpp"
#include "gorgo/rule.hpp"

namespace gorgo::engine {

/// No event has a later timestamp.
inline constexpr Timestamp kEndOfTime = std::numeric_limits<Timestamp>::max();

/// An open interval of time: after < ts < before.
struct Interval {
  Timestamp after;
  Timestamp before;
  bool of_table = false;  ///< the rows of a table are there whenever the rule was deployed
};

/// All time before the reference.
inline Interval rows_before(Timestamp reference) {
  return {std::numeric_limits<Timestamp>::min(), reference, true};
}

/// What lies before the rule's deployment does not exist for it.
inline Interval visible(Interval interval, const RuleState& state) {
  if (interval.of_table) return interval;
  if (state.deployed_at) interval.after = std::max(interval.after, *state.deployed_at);
  return interval;
}

inline Interval window_of(const State& state, std::span<const history::EventRef> sequence) {
  const Timestamp reference = sequence[state.reference].timestamp();
  if (state.table) return rows_before(reference);
  return {arithmetic::saturating_subtract(reference, state.width), reference};
}

inline Interval interval_of(const Span& span, std::span<const history::EventRef> sequence) {
  const Timestamp first = sequence[span.first].timestamp();
  if (span.table) return rows_before(first);
  switch (span.kind) {
    case SpanKind::within:
      return {arithmetic::saturating_subtract(first, span.width), first};
    case SpanKind::after:
      return {first, arithmetic::saturating_add(first, span.width)};
    case SpanKind::between:
      break;
  }
  const Timestamp second = sequence[span.second].timestamp();
  return {std::min(first, second), std::max(first, second)};
}

}  // namespace gorgo::engine
