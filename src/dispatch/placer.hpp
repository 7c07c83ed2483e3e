#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dispatch/attempt.hpp"
#include "dispatch/comparison.hpp"
#include "dispatch/rule_set.hpp"
#include "dispatch/shadow.hpp"
#include "dispatch/watch.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Moves rules that nobody has pinned to the engines where they cost least, by what they are
/// measured to cost (in the spirit of SABER's scheduling: Koliousis et al., "SABER: Window-Based
/// Hybrid Stream Processing for Heterogeneous Architectures", SIGMOD 2016, section 4). A rule that
/// takes time has another engine try some of its batches beside its own, now and then: outcomes are
/// compared, costs measured on the same terminators, and only then it moves, at once or, where
/// costs are close, after an `Attempt`; `Watch` says when. Trying takes a fixed share of the time,
/// and semantic state is not concerned, for that lies in `RuleState`.
///
/// Used by one thread, between evaluations and while the history does not change.
class Placer {
 public:
  struct Options {
    /// Of the time, how much goes into trying other engines.
    double exploration = 0.02;
    /// Another engine must cost at most this part of what the present one does.
    double gain = 0.8;
    /// The names of the engines that automatic rules may run on, the first to begin with.
    std::vector<std::string_view> choices = {"column", "automaton", "cuda"};
    /// Not 0: rules move at random, before every evaluation; for tests.
    std::uint64_t shuffle = 0;
    unsigned threads = 1;
    /// Is told when two engines disagree about a rule.
    std::function<void(const EngineAlarm&)> on_alarm;
  };

  Placer(RuleSet& rules, history::History& history, const Options& options,
         const std::atomic<bool>& stop)
      : rules_(rules),
        history_(history),
        options_(options),
        stop_(stop),
        threads_(options.threads) {}

  /// Where so many terminators of the rule are evaluated next.
  Places place(std::uint32_t rule, std::size_t terminators);
  /// Whether any rule's terminators are tried elsewhere.
  bool is_trying() const { return !trials_.empty(); }
  /// The same, or soon, or rules are arranged otherwise for a while: batches had better be short.
  bool is_undecided() const {
    return is_trying() || is_attempting() || (!due_.empty() && credit_ >= 0);
  }
  /// Whether the rule's terminators are tried elsewhere this time: `try_elsewhere` is to be called
  /// when they are evaluated.
  bool is_tried(std::uint32_t rule) const { return is_trying() && trials_.contains(rule); }

  /// Whether an evaluation of so many terminators is to be timed.
  bool is_timed(std::uint32_t rule, std::size_t terminators) {
    return rules_.rules()[rule].placement.is_timed(terminators) || is_tried(rule);
  }
  /// What an evaluation took, on one thread.
  void observe(std::uint32_t rule, Post& post, std::uint64_t terminators, double nanoseconds);
  /// `took`: the same terminators on their own engine, in nanoseconds of one thread.
  void try_elsewhere(std::uint32_t rule, const engine::Terminators& terminators,
                     const Outcome& outcome, double took);
  /// How fast a rule's engine and its reserve, where they shared terminators, were: so that they
  /// are done at the same time.
  void balance(std::uint32_t rule, double own, double reserve);
  /// What threads had to do, and how long that took, in nanoseconds: they wait for each other,
  /// share caches, and small loads are not shared out, so that many are worth less.
  void watch_threads(double busy, double took);
  /// When everything that was ready has been evaluated. `clock`: of the events.
  void settle(Timestamp clock);
  /// What everything took, evaluation and all, in nanoseconds by the clock on the wall, when all of
  /// it is done.
  void add_time(double took);
  /// Whether rules are arranged otherwise, in turns.
  bool is_attempting() const { return attempt_.has_value(); }

 private:
  /// What may be attempted for a rule.
  struct Candidate {
    Arrangement arrangement;
    Attempt::Prospect prospect;
  };
  /// What is known of a rule that takes time.
  struct Heavy {
    Watch watch;
    bool drifted = false;  ///< it costs more or less since it was looked at last
    double spent = 0;      ///< nanoseconds, by the clock on the wall
    std::vector<const engine::Engine*> to_try;  ///< in this round, the most promising one last
    bool is_clear = true;               ///< what has been tried in this round is clearly worse
    std::vector<Candidate> candidates;  ///< to be attempted, one after the other
    std::uint64_t terminators = 0;      ///< evaluated when it was looked at last
    Timestamp clock = 0;                ///< then
  };
  /// An engine is being tried for a rule.
  struct Trial {
    std::uint32_t rule;
    const engine::Engine& engine;
    Shadow shadow;
    Comparison comparison;
    std::size_t evaluations = 0;
    bool has_caught_up = false;  ///< the first evaluation is not counted
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    std::size_t idle = 0;  ///< batches since the last evaluation
    double spent = 0;      ///< nanoseconds for the trial itself
  };

  void prepare(const DeployedRule& rule, Post& post);
  Places at_random(DeployedRule& rule, std::size_t terminators);
  std::uint64_t draw();
  void catch_up_with_changes();
  void consider(std::uint32_t rule, Timestamp clock);
  std::vector<const engine::Engine*> alternatives(DeployedRule& rule);
  void estimate_costs(DeployedRule& rule, Heavy& heavy, Timestamp clock);
  /// What costs no more than so many times what another engine does is to be attempted.
  static double closeness(const engine::Engine& a, const engine::Engine& b);
  bool is_worth_trying(Placement& placement, const engine::Engine& engine, double spent) const;
  void begin_trial(std::uint32_t rule, const engine::Engine& engine);
  bool remember(Trial& trial);
  /// In nanoseconds.
  static double since(std::chrono::steady_clock::time_point start);
  /// For what began at `start`.
  void charge(Trial& trial, std::chrono::steady_clock::time_point start);
  bool is_to_wait(Trial& trial) const;
  static bool is_warming_up(const Trial& trial);
  bool compare(Trial& trial, std::uint64_t terminators, double own, double other);
  void judge(Trial& trial);
  void move(Placement& placement, const engine::Engine& engine, const std::string& costs);
  void leave_few(Placement& placement, const engine::Engine& reserve);
  void withdraw_reserve(std::uint32_t rule);
  void withdraw_idle(std::uint32_t rule);
  bool is_sharing(std::uint32_t rule, bool drifted);
  void consider_attempts(const Trial& trial, const engine::Engine& present);
  void consider_together(Timestamp clock);
  std::vector<std::uint32_t> who_might_go_to(const engine::Engine& device, Timestamp clock);
  bool is_attempted(std::uint32_t rule) const;
  bool is_busy() const;
  void hope_for(std::uint32_t rule, const Candidate& candidate);
  void begin_next_attempt();
  void begin_attempt(std::uint32_t rule);
  void take_turns();
  void settle_together(std::uint32_t rule);
  void leave_few_after(const Attempt& attempt);
  void abandon_attempt();
  void end_attempt(Attempt::Verdict verdict);
  void arrange(DeployedRule& rule, const Arrangement& arrangement);
  double share(Placement& placement, const engine::Engine& reserve) const;
  void raise_alarm(const Trial& trial, const Shadow::Difference& difference);
  void give_up_quiet_trials();
  void end_trial(std::uint32_t rule);
  double on_all_threads(const engine::Engine& engine, double nanoseconds) const;
  /// Of a terminator, evaluation and upkeep.
  double estimated(Placement& placement, const engine::Engine& engine) const;

  RuleSet& rules_;
  history::History& history_;
  const Options options_;
  const std::atomic<bool>& stop_;
  std::uint64_t generation_ = 0;           // of the rule set
  std::map<std::uint32_t, Heavy> heavy_;   // by rule
  std::vector<std::uint32_t> due_;         // rules that have taken time lately
  std::map<std::uint32_t, Trial> trials_;  // by rule
  std::vector<std::uint32_t> hopeful_;     // rules with candidates, the latest last
  std::optional<Attempt> attempt_;
  std::vector<std::uint32_t> others_;  // rules that the attempt concerns, too
  /// When rules are to be attempted together.
  struct Together {
    double spent = 0;        ///< nanoseconds since the last time
    double interval = 15e6;  ///< until the next one
  };
  Together together_;
  double took_ = 0;  // nanoseconds for everything, since it was settled
  double threads_;   // that work at the same time, on average
  /// Nanoseconds for trials; below 0: to be made up for. Enough to begin with.
  double credit_ = 15e6;
  double pause_ = 0;        // nanoseconds that trials have held up this batch for
  bool is_untidy_ = false;  // columns may have indexes that nobody holds
  std::uint64_t draws_ = 0;
};

}  // namespace gorgo::dispatch
