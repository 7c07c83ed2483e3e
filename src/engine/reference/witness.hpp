#pragma once

#include <cstddef>
#include <span>

#include "engine/window.hpp"
#include "history/event_store.hpp"

namespace gorgo::engine {

/// Is told what the reference engine does for each terminator, step by step. A sequence holds the
/// events of the states bound so far; the candidate is its last one.
class Witness {
 public:
  using Sequence = std::span<const history::EventRef>;

  virtual ~Witness() = default;
  /// Candidates for a state follow, each of which would extend this partial sequence.
  virtual void search(std::size_t state, Sequence partial, Interval window) = 0;
  /// The candidate was consumed by an earlier terminator, which may be forgotten already.
  virtual void consumed(std::size_t state, Sequence extended, history::EventRef by) = 0;
  /// The candidate fails a condition of the state; this is the first such condition.
  virtual void failed(std::size_t state, std::size_t condition, Sequence extended) = 0;
  /// The candidate violates a negation; this is the first such negation, and `by` is an event that
  /// violates it.
  virtual void violated(std::size_t state, std::size_t negation, Sequence extended,
                        history::EventRef by) = 0;
  virtual void passed(std::size_t state) = 0;
  /// This many sequences go on behind the state.
  virtual void chosen(std::size_t state, std::size_t sequences) = 0;
  /// A sequence is complete. `filter` is the first filter that drops it, or the number of filters
  /// when none does.
  virtual void complete(Sequence sequence, std::span<const Datum> aggregates,
                        std::size_t filter) = 0;
};

}  // namespace gorgo::engine
