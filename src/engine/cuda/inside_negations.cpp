#include "engine/cuda/inside_negations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/arithmetic.hpp"
#include "engine/window.hpp"

namespace gorgo::engine {
namespace {

using history::EventRef;
using history::Range;

/// Where so many candidates were rejected, the next are tested inside, however long it takes.
constexpr std::uint64_t kManyRejected = 8;

/// The interval of a negation for a candidate of `state`. Its other state, if there is one, is
/// bound. Precondition: the span reads the candidate's time.
gpu::NegationInterval ends_of(const Span& span, std::size_t state, std::span<const EventRef> row) {
  if (span.kind == SpanKind::within) {
    return {.after = std::numeric_limits<Timestamp>::max(),
            .before = std::numeric_limits<Timestamp>::min(),
            .width = span.width};
  }
  const Timestamp other = row[span.first == state ? span.second : span.first].timestamp();
  return {.after = other, .before = other, .width = 0};
}

/// An interval that holds those of all candidates between two times.
Interval hull_of(const gpu::NegationInterval& ends, Timestamp first, Timestamp last) {
  const Timestamp begin = arithmetic::saturating_subtract(first, ends.width);
  return {std::min(ends.after, begin), std::max(ends.before, last)};
}

/// How many of the events lie in the longest interval of a candidate if they are spread evenly over
/// the hull.
std::uint64_t in_longest(std::uint64_t events, const gpu::NegationInterval& ends,
                         const Interval& hull, Timestamp first, Timestamp last) {
  const auto length = [](Timestamp from, Timestamp to) {
    return std::abs(static_cast<double>(to) - static_cast<double>(from));
  };
  const double longest = ends.width > 0
                             ? static_cast<double>(ends.width)
                             : std::max(length(first, ends.after), length(last, ends.after));
  const double share = std::min(1.0, longest / length(hull.after, hull.before));
  return static_cast<std::uint64_t>(static_cast<double>(events) * share);
}

}  // namespace

InsideNegation InsideNegations::negation_of(std::size_t state, DeviceScan& scan, const Span& span,
                                            std::span<const EventRef> row,
                                            const Range& candidates) const {
  if (scan.program.time == gpu::kNone) {
    const Range range = input_.window(scan, interval_of(span, row));
    return {&scan, range, {}, range.size()};
  }
  const gpu::NegationInterval ends = ends_of(span, state, row);
  const Timestamp first = input_.event(state, candidates.first).timestamp();
  const Timestamp last = input_.event(state, candidates.last - 1).timestamp();
  const Interval hull = hull_of(ends, first, last);
  const Range range = input_.window(scan, hull);
  return {&scan, range, ends, in_longest(range.size(), ends, hull, first, last)};
}

std::optional<std::uint32_t> InsideNegations::add(std::size_t state, std::span<const EventRef> row,
                                                  const Range& candidates, std::uint64_t rejected) {
  auto& scans = input_.plan.states[state - 1].negations;
  if (scans.empty() || !input_.terminators.in_order() || candidates.empty()) return std::nullopt;
  const auto first = static_cast<std::uint32_t>(negations_.size());
  bool is_long = false;
  for (std::size_t i = 0; i < scans.size(); ++i) {
    const std::uint32_t number = input_.plan.plan->states[state].negations[i];
    const Span& span = input_.rule().negations[number].span;
    negations_.push_back(negation_of(state, scans[i], span, row, candidates));
    is_long = is_long || negations_.back().longest > input_.plan.longest_inside;
  }
  if (!is_long || rejected >= kManyRejected) return first;
  negations_.resize(first);
  return std::nullopt;
}

}  // namespace gorgo::engine
