#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/cuda/pass_input.hpp"
#include "history/event_store.hpp"
#include "history/range.hpp"

namespace gorgo::engine {

/// The negations that searches for candidates of a state test themselves, so that they find what is
/// left.
///
/// One warp tests such a negation; all of the device tests one that is searched for separately
/// (SeparateNegations). So what may take long is asked separately first, since mostly one of the
/// first candidates stands, and goes on inside.
class InsideNegations {
 public:
  /// The input must outlive this.
  explicit InsideNegations(const PassInput& input) : input_(input) {}

  void clear() { negations_.clear(); }
  /// Adds all negations of a state for a search among `candidates`, positions of the state's
  /// timeline, for a row. `rejected` says how many candidates were asked for in vain. Returns the
  /// number of the first one, or nothing when the search should not test them.
  std::optional<std::uint32_t> add(std::size_t state, std::span<const history::EventRef> row,
                                   const history::Range& candidates, std::uint64_t rejected);
  /// The negations that a call of `add` added, which returned `first`.
  std::span<const InsideNegation> at(std::size_t state, std::uint32_t first) const {
    return std::span(negations_).subspan(first, input_.plan.states[state - 1].negations.size());
  }

 private:
  InsideNegation negation_of(std::size_t state, DeviceScan& scan, const Span& span,
                             std::span<const history::EventRef> row,
                             const history::Range& candidates) const;

  const PassInput& input_;
  std::vector<InsideNegation> negations_;
};

}  // namespace gorgo::engine
