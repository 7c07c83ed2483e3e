#pragma once

#include <cstdint>
#include <span>

#include "engine/window.hpp"
#include "history/event_store.hpp"

namespace gorgo::engine {

/// What the events of a predicate are searched for.
struct Search {
  Interval interval{};
  std::span<const history::EventRef> sequence;  ///< must stay as it is during the search
  /// See Terminators.
  Timestamp ordered_before = kEndOfTime;

  /// Whether the interval alone tells what stands before the terminator, state 0.
  bool in_order() const { return interval.before <= ordered_before; }
  /// Whether an event of the interval, which has this timestamp, stands before the terminator: only
  /// an event that was released earlier does. (An event of the terminator's own root has its
  /// timestamp or a later one.)
  bool sees(history::EventRef event, Timestamp timestamp) const {
    return timestamp < ordered_before || event.root() < sequence[0].root();
  }
};

}  // namespace gorgo::engine
