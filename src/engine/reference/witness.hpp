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
  /// Candidates for a state follow, of one partial sequence.
  virtual void search(std::size_t state, Sequence partial, Interval window) = 0;
  /// By an earlier terminator, which may be forgotten by now.
  virtual void consumed(std::size_t state, Sequence extended, history::EventRef by) = 0;
  /// The first condition of the state that the candidate fails.
  virtual void failed(std::size_t state, std::size_t condition, Sequence extended) = 0;
  /// The first negation that is violated, and an event that violates it.
  virtual void violated(std::size_t state, std::size_t negation, Sequence extended,
                        history::EventRef by) = 0;
  virtual void passed(std::size_t state) = 0;
  /// So many sequences go on behind the state.
  virtual void chosen(std::size_t state, std::size_t sequences) = 0;
  /// A complete sequence, and the first filter that drops it: their number when none does.
  virtual void complete(Sequence sequence, std::span<const Datum> aggregates,
                        std::size_t filter) = 0;
};

}  // namespace gorgo::engine
