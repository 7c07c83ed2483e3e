#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/placement/costs.hpp"
#include "dispatch/placement/policy.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// The arrangement with a device and the CPU's other threads side by side. Each gets a share by its
/// speed, because a device has a fixed cost for any number of terminators. Unset unless one of the
/// engines is a device and the other shares terminators among threads.
std::optional<Arrangement> side_by_side(const engine::Engine& a, const engine::Engine& b);

/// Has rules go to other engines, where they are on probation, and back. Thread-safety: as Placer.
class Moves {
 public:
  struct Rule {
    std::uint32_t number;
    std::uint64_t serial;
    Arrangement before;
    double cost;  ///< of a terminator, before
  };
  /// A probation that is over.
  struct Ended {
    std::vector<Rule> rules;
    std::string_view worse;  ///< of the engines before and after; empty: they share terminators
    bool kept = false;       ///< false: the rules went back
    double loss = 0;         ///< nanoseconds that the move has cost
    double ratio = 1;        ///< what a terminator costs there by what it cost before
  };

  Moves(RuleSet& rules, history::History& history, const Parallelism& parallelism)
      : rules_(rules), history_(history), parallelism_(parallelism) {}

  /// Prepares an evaluator of the entry, if it has none.
  void prepare(std::uint32_t number, EngineEntry& entry);
  /// Has the rule's terminators go as arranged.
  void arrange(std::uint32_t number, const Arrangement& arrangement, std::string reason);
  /// Lets go of what engines hold that the rule has no use for.
  void withdraw_idle(std::uint32_t number);
  /// Has the history let go of what nobody holds any more. Costs nothing unless there is something.
  void tidy();

  /// Has rules go elsewhere together, on probation. Precondition: none of them is on probation.
  void go(std::vector<Rule> rules, const Arrangement& after, const std::string& reason);
  bool is_on_probation(std::uint32_t number) const { return moving_.contains(number); }
  /// Takes into account what a rule on probation has taken.
  void watch(std::uint32_t number, const Placement::Spent& spent);
  /// To be called when a batch is done. Returns what came of probations that are over.
  std::vector<Ended> settle();
  /// Forgets the rules that have gone or were pinned, and finds the others by their new numbers.
  void catch_up_with_changes();

  /// Looks again whether the rule needs its reserve for few terminators.
  void withdraw_reserve(std::uint32_t number);
  /// See Placer.
  void balance(std::uint32_t number, double own, double reserve);
  /// Ends the sharing of a rule whose cost has drifted, or where one of the engines has little to
  /// do. Returns whether it goes on.
  bool goes_on_sharing(std::uint32_t number, bool drifted);

 private:
  struct Move {
    std::vector<Rule> rules;
    Arrangement after;
    Probation probation;
  };

  Placement& placement(std::uint32_t number) { return rules_.placement(number); }
  bool has_stayed(Rule& rule, const Arrangement& after);
  Ended end(const Move& move, Probation::Verdict verdict);
  void leave_few(std::uint32_t number, const engine::Engine& reserve);

  RuleSet& rules_;
  history::History& history_;
  const Parallelism& parallelism_;
  std::list<Move> moves_;
  std::map<std::uint32_t, Move*> moving_;  // by rule
  bool is_untidy_ = false;                 // columns may have indexes that nobody holds
};

}  // namespace gorgo::dispatch
