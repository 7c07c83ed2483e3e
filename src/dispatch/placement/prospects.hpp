#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "dispatch/placement/costs.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Says by the cost model which engines are worth a trial. Thread-safety: as Placer.
class Prospects {
 public:
  using Engines = std::vector<const engine::Engine*>;

  /// `choices`: the names of the engines that automatic rules may run on.
  Prospects(RuleSet& rules, history::History& history, const Parallelism& parallelism,
            const std::vector<std::string_view>& choices)
      : rules_(rules), history_(history), parallelism_(parallelism), choices_(choices) {}

  /// The engines that are worth a trial for the rule, of those that are allowed. The one with the
  /// least estimated cost comes last. `clock`: the time of the events.
  Engines for_rule(std::uint32_t number, Timestamp clock,
                   const std::function<bool(std::string_view)>& is_allowed);
  /// Whether no engine is getting ready, which may take a moment.
  bool are_engines_ready() const;
  /// The rules on the CPU that might go to the device together, except those that are left out;
  /// none where it would take long to find out.
  std::vector<std::uint32_t> for_device(const engine::Engine& device, Timestamp clock,
                                        const std::function<bool(std::uint32_t)>& is_left_out);
  /// About how long a trial of the rule takes, in nanoseconds.
  double trial_of(std::uint32_t number, const engine::Engine& engine) const;
  /// Forgets the loads of the rules that have gone.
  void catch_up_with_changes();

  /// A trial must not hold up events for longer than this, in nanoseconds.
  static constexpr double kLongestPause = 20e6;

 private:
  /// When a rule was looked at last.
  struct Seen {
    std::uint64_t terminators = 0;
    Timestamp clock = 0;
  };

  Placement& placement(std::uint32_t number) const { return rules_.placement(number); }
  void estimate_costs(std::uint32_t number, Timestamp clock);
  bool is_worth_trying(std::uint32_t number, const engine::Engine& engine) const;
  double estimated(std::uint32_t number, const engine::Engine& engine) const;

  RuleSet& rules_;
  history::History& history_;
  const Parallelism& parallelism_;
  const std::vector<std::string_view>& choices_;
  std::map<std::uint64_t, Seen> seen_;  // by serial
};

}  // namespace gorgo::dispatch
