#pragma once

#include <cstdint>
#include <optional>

#include "dispatch/batch.hpp"
#include "dispatch/rule_set.hpp"

namespace gorgo::dispatch {

/// What the clock will bring about: instants of timers and deadlines of absences (TESLA.md §8).
/// A view of the rules' states; holds nothing of its own.
class Agenda {
 public:
  /// `max_instants`: how many instants of a timer fire in a gap between two events, the latest.
  Agenda(RuleSet& rules, std::uint64_t max_instants) : rules_(rules), max_instants_(max_instants) {}

  /// Whether any rule waits for the clock at all.
  bool empty() const { return rules_.temporal_rules().empty(); }
  /// The clock is about to reach `now`: timers that were never asked begin there, and of a gap
  /// with too many instants only the latest remain.
  void approach(Timestamp now);
  /// The earliest instant or deadline that has not fired.
  std::optional<Timestamp> next() const;
  /// The shortest time after which an event can bring about a deadline; unset without such rules.
  std::optional<Duration> shortest_deadline() const;
  /// The latest pending deadline.
  std::optional<Timestamp> last_deadline() const;

  /// Fires what is due at `when`, the earliest: appends the events to the batch as roots of their
  /// own, in place order, counting `roots` on. Timers fire before deadlines; when timers do,
  /// deadlines of the same time stay, because what the timers cause stands before them.
  void fire(Timestamp when, Batch& batch, std::uint64_t& roots);

 private:
  bool fire_timers(Timestamp when, Batch& batch, std::uint64_t& roots);
  void fire_deadlines(Timestamp when, Batch& batch, std::uint64_t& roots);

  RuleSet& rules_;
  std::uint64_t max_instants_;
};

}  // namespace gorgo::dispatch
