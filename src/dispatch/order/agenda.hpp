#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dispatch/evaluate/batch.hpp"
#include "dispatch/rules/rule_set.hpp"

namespace gorgo::dispatch {

/// What the clock will bring about: instants of timers and deadlines of absences (language.md §8).
/// It is a view of the rules' states and holds nothing of its own but what follows from the rules.
class Agenda {
 public:
  /// `max_instants`: how many instants of a timer fire at most in a gap between two events; they
  /// are the latest ones.
  Agenda(RuleSet& rules, std::uint64_t max_instants) : rules_(rules), max_instants_(max_instants) {}

  /// Whether any rule waits for the clock at all.
  bool empty() const { return rules_.temporal_rules().empty(); }
  /// To be called before the clock reaches `now`: a timer that was never asked begins there, and a
  /// gap with too many instants keeps only the latest ones.
  void approach(Timestamp now);
  /// The earliest instant or deadline that has not fired.
  std::optional<Timestamp> next() const;
  /// The shortest time after which an event can bring about a deadline; unset without such rules.
  std::optional<Duration> shortest_deadline() const;
  /// Whether an event of the type may bring about a deadline, itself or by composites that have its
  /// timestamp.
  bool may_bring_deadline(TypeId type);
  /// The latest pending deadline.
  std::optional<Timestamp> last_deadline() const;

  /// Fires what is due at `when`, which must be the result of `next`: appends the events to the
  /// batch as roots of their own, in place order, and counts `roots` up. Timers fire before
  /// deadlines; when timers fire, deadlines of the same time stay, because what the timers cause
  /// stands before them.
  void fire(Timestamp when, Batch& batch, std::uint64_t& roots);

 private:
  bool fire_timers(Timestamp when, Batch& batch, std::uint64_t& roots);
  void fire_deadlines(Timestamp when, Batch& batch, std::uint64_t& roots);
  void find_types_before_deadlines();

  RuleSet& rules_;
  std::uint64_t max_instants_;
  std::vector<bool> brings_deadline_;  // by TypeId
  std::uint64_t version_ = 0;          // of the rules for which it is so; 0: of none
};

}  // namespace gorgo::dispatch
