#pragma once

#include <cstdint>
#include <optional>

#include "gorgo/rule.hpp"

namespace gorgo::plan {

/// Panes: the stretches of time between two instants of a rule's timer. A rule with `@panes` keeps
/// what its aggregates need of each pane, and not the events. (After Li et al., "No pane, no gain:
/// efficient evaluation of sliding-window aggregates over data streams", 2005.)
struct PaneCut {
  Duration width = 0;   ///< the timer's period, > 0
  Duration offset = 0;  ///< pane n is [offset + n * width, offset + (n + 1) * width)

  /// The pane that the timestamp lies in.
  std::int64_t pane_of(Timestamp timestamp) const;
  /// Where a pane begins, or the nearest timestamp there is.
  Timestamp begin_of(std::int64_t pane) const;
};

/// How the panes of a rule are cut; unset where it has none.
std::optional<PaneCut> cut_of(const Rule& rule);

/// Whether a span is a window with its older end that begins and ends where panes do.
bool consists_of_panes(const PaneCut& cut, const Span& span);

/// How many panes the window of an aggregate has; 0: its value does not come from panes.
std::int64_t panes_of(const Rule& rule, const Aggregate& aggregate);

}  // namespace gorgo::plan
