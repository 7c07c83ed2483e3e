#include <algorithm>
#include <cmath>
#include <limits>

#include "base/arithmetic.hpp"
#include "engine/cuda/wave.hpp"

namespace gorgo::engine {
namespace {

using history::EventRef;

/// Where so many candidates were rejected, the next are tested inside, however long it takes.
constexpr std::uint64_t kManyRejected = 8;

/// The interval of a negation for a candidate of `state`. Its other state, if there is one, is
/// bound. Precondition: the span reads the candidate's time.
gpu::NegationInterval ends_of(const Span& span, std::uint32_t state,
                              std::span<const EventRef> sequence) {
  if (span.kind == SpanKind::within) {
    return {.after = std::numeric_limits<Timestamp>::max(),
            .before = std::numeric_limits<Timestamp>::min(),
            .width = span.width};
  }
  const Timestamp other = sequence[span.first == state ? span.second : span.first].timestamp();
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

Inside Wave::inside(DeviceScan& negation, const Span& span, const Open& open) const {
  const auto sequence = row(open.row);
  if (negation.program.time == gpu::kNone) {
    const history::Range range = window(negation, interval_of(span, sequence));
    return {&negation, range, {}, range.size()};
  }
  const DeviceScan& candidates = plan_.states[state_ - 1];
  const gpu::NegationInterval ends = ends_of(span, static_cast<std::uint32_t>(state_), sequence);
  const Timestamp first = candidates.event(open.rest.first).timestamp();
  const Timestamp last = candidates.event(open.rest.last - 1).timestamp();
  const Interval hull = hull_of(ends, first, last);
  const history::Range range = window(negation, hull);
  return {&negation, range, ends, in_longest(range.size(), ends, hull, first, last)};
}

/// Where the negations of a search for candidates begin; kApart when they are not tested with it.
std::uint32_t Wave::add_inside(const Open& open) {
  auto& scans = plan_.states[state_ - 1].negations;
  if (scans.empty() || !terminators_.in_order || open.rest.empty()) return kApart;
  const auto first = static_cast<std::uint32_t>(inside_.size());
  bool is_long = false;
  for (std::size_t i = 0; i < scans.size(); ++i) {
    const std::uint32_t negation = plan_.plan->states[state_].negations[i];
    inside_.push_back(inside(scans[i], rule().negations[negation].span, open));
    is_long = is_long || inside_.back().longest > plan_.longest_inside;
  }
  if (!is_long || open.asked >= kManyRejected) return first;
  inside_.resize(first);
  return kApart;
}

std::span<const Inside> Wave::inside_of(const Request& request) const {
  if (request.inside == kApart) return {};
  return std::span(inside_).subspan(request.inside, plan_.states[state_ - 1].negations.size());
}

void Wave::request_verification() {
  const auto& negations = plan_.plan->states[state_].negations;
  for (std::uint32_t c = 0; c < candidates_.size(); ++c) {
    if (candidates_[c].is_verified) continue;
    for (const std::uint32_t negation : negations) {
      Request request{.scan = &plan_.negations[negation],
                      .range = {},
                      .want = gpu::Want::oldest,
                      .limit = 1,
                      .subject = c};
      const auto sequence = sequence_of(request);
      request.range = window(*request.scan, interval_of(rule().negations[negation].span, sequence));
      if (!request.range.empty()) requests_.push_back(request);
    }
  }
}

}  // namespace gorgo::engine
