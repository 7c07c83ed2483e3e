#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "dispatch/evaluate/batch.hpp"
#include "dispatch/rules/rule_set.hpp"

namespace gorgo::dispatch {

/// What the clock will bring about: instants of timers and deadlines of absences (language.md §8).
/// The rules' states have them; this class knows which of them come first, so that what it costs
/// depends on what is due and not on how many rules wait. It looks at all of these when rules have
/// come or gone.
class Agenda {
 public:
  /// `max_instants`: how many instants of a timer fire at most in a gap between two events; they
  /// are the latest ones.
  Agenda(RuleSet& rules, std::uint64_t max_instants) : rules_(rules), max_instants_(max_instants) {}

  /// Has it look at all rules anew, because their states were changed elsewhere.
  void forget() { version_ = kNever; }
  /// Whether any rule waits for the clock at all.
  bool empty() const { return rules_.temporal_rules().empty(); }
  /// To be called before the clock reaches `now`: a timer that was never asked begins there, and a
  /// gap with too many instants keeps only the latest ones.
  void approach(Timestamp now);
  /// The earliest instant or deadline that has not fired.
  std::optional<Timestamp> next();
  /// The shortest time after which an event can bring about a deadline; unset without such rules.
  std::optional<Duration> shortest_deadline();
  /// Whether an event of the type may bring about a deadline, itself or by composites that have its
  /// timestamp.
  bool may_bring_deadline(TypeId type);
  /// The latest pending deadline.
  std::optional<Timestamp> last_deadline() const;
  /// These rules were evaluated, so that composites of theirs may wait for deadlines now.
  void look_at(std::span<const std::uint32_t> rules);

  /// Fires what is due at `when`, which must be the result of `next`: appends the events to the
  /// batch as roots of their own, in place order, and counts `roots` up. Timers fire before
  /// deadlines; when timers fire, deadlines of the same time stay, because what the timers cause
  /// stands before them.
  void fire(Timestamp when, Batch& batch, std::uint64_t& roots);

 private:
  using Dues = std::set<std::pair<Timestamp, std::uint32_t>>;  // with the number of the rule
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  void keep_up();
  void find_types_before_deadlines();
  void enter_instant(std::uint32_t rule);
  void enter_deadline(std::uint32_t rule);
  bool fire_timers(Timestamp when, Batch& batch, std::uint64_t& roots);
  void fire_deadlines(Timestamp when, Batch& batch, std::uint64_t& roots);

  RuleSet& rules_;
  std::uint64_t max_instants_;
  std::uint64_t version_ = kNever;   // of the rules that the members below are about
  Dues instants_;                    // the next one of each timer that has begun
  std::vector<std::uint32_t> idle_;  // rules whose timers have not begun
  Dues deadlines_;                   // the first one of each rule, and some that have fired
  std::optional<Duration> shortest_deadline_;
  std::vector<bool> brings_deadline_;  // by TypeId
};

}  // namespace gorgo::dispatch
