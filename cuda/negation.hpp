#pragma once

#include "cuda/shape.hpp"

/// Negations that are tested with the choice. A warp tests one event at a time: its lanes call the
/// functions below together, with the same arguments, and get the same answer.
namespace gorgo::gpu {

inline constexpr unsigned kWarpSize = 32;

/// The answers of f(lane) for all lanes, as bits of a mask.
template <class F>
GORGO_HD unsigned ballot(F f) {
#ifdef __CUDA_ARCH__
  return __ballot_sync(~0u, f(threadIdx.x % kWarpSize));
#else
  unsigned mask = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) mask |= f(lane) ? 1u << lane : 0u;
  return mask;
#endif
}

GORGO_HD inline unsigned count_ones(unsigned mask) {
#ifdef __CUDA_ARCH__
  return static_cast<unsigned>(__popc(mask));
#else
  return static_cast<unsigned>(__builtin_popcount(mask));
#endif
}

/// The first of the positions [first, last), whose times ascend, with a time that does not lie
/// before; `last` if there is none.
template <class LiesBefore>
GORGO_HD std::uint64_t first_not(LiesBefore lies_before, const View& view, const Attribute& times,
                                 std::uint64_t first, std::uint64_t last) {
  while (first < last) {
    const std::uint64_t step = (last - first + kWarpSize - 1) / kWarpSize;
    const unsigned before = count_ones(ballot([&](unsigned lane) {
      const std::uint64_t p = first + lane * step;
      return p < last && lies_before(as_integer(load(view, times, p).bits));
    }));
    if (before == 0) return first;
    const std::uint64_t end = first + before * step;
    last = end < last ? end : last;
    first += (before - 1) * step + 1;
  }
  return first;
}

/// Positions of a negation's column.
struct PositionRange {
  std::uint64_t first, last;
};
/// The positions in the negation's interval for an event of this time.
GORGO_HD inline PositionRange range_of(const View& view, const NegationSearch& negation,
                                       const Scan& scan, std::int64_t time) {
  PositionRange in{negation.first, negation.last};
  if (scan.time == kNone) return in;
  const OpenInterval within = interval_for(negation.interval, time);
  const Attribute times = view.attributes[scan.attributes + scan.time];
  const auto not_after = [&](std::int64_t t) { return t <= within.after; };
  const auto before = [&](std::int64_t t) { return t < within.before; };
  in.first = first_not(not_after, view, times, in.first, in.last);
  in.last = first_not(before, view, times, in.first, in.last);
  return in;
}

/// Whether an event in a range violates the negation.
template <class Negation>
GORGO_HD bool is_violated(const View& view, const NegationSearch& negation, const Scan& scan,
                          const Chosen& chosen, const PositionRange& in) {
  constexpr unsigned kAtATime = 4;
  const auto columns = Negation::columns(view, scan);
  const auto parameters = Negation::parameters(view, negation, chosen);
  for (std::uint64_t begin = in.first; begin < in.last; begin += kWarpSize * kAtATime) {
    const unsigned found = ballot([&](unsigned lane) {
      bool any = false;
      for (unsigned j = 0; j < kAtATime; ++j) {
        const std::uint64_t p = begin + j * kWarpSize + lane;
        if (p >= in.last) continue;
        any |= decides<Negation>(view, scan, parameters, Negation::load(view, columns, p));
      }
      return any;
    });
    if (found != 0) return true;
  }
  return false;
}

/// `is_violated` for the type of a negation.
struct IsViolated {
  const View& view;
  const NegationSearch& negation;
  const Chosen& chosen;
  std::int64_t time;

  template <class Negation>
  GORGO_HD bool operator()(Negation) const {
    const Scan scan = view.scans[negation.scan];
    const PositionRange in = range_of(view, negation, scan, time);
    return in.first < in.last && is_violated<Negation>(view, negation, scan, chosen, in);
  }
};

/// Whether a negation of the search keeps the event at a position from being found.
template <class Shape>
GORGO_HD bool is_violated(const View& view, const Search& search, std::uint64_t position) {
  const Scan& scan = view.scans[search.scan];
  const Chosen chosen{view.attributes + scan.attributes, position};
  const std::int64_t time = scan.time == kNone ? 0 : as_integer(chosen(view, scan.time).bits);
  for (unsigned n = 0; n < scan.negations; ++n) {
    const NegationSearch negation = view.negations[search.first_negation + n];
    if (negation.first == negation.last) continue;
    if (Shape::Negations::apply(n, IsViolated{view, negation, chosen, time})) return true;
  }
  return false;
}

/// Whether a search finds the event at a position.
template <class Shape>
GORGO_HD bool finds(const View& view, const Scan& scan, const Search& search,
                    std::uint64_t position) {
  const auto columns = Shape::columns(view, scan);
  const auto values = Shape::load(view, columns, position);
  if (!decides<Shape>(view, scan, Shape::parameters(view, search), values)) return false;
  if constexpr (Shape::Negations::kAny) return !is_violated<Shape>(view, search, position);
  return true;
}

}  // namespace gorgo::gpu
