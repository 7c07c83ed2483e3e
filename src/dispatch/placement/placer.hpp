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

#include "dispatch/placement/attempt.hpp"
#include "dispatch/placement/comparison.hpp"
#include "dispatch/placement/shadow.hpp"
#include "dispatch/placement/watch.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Moves rules that nobody has pinned to the engines where they cost least, by what they are
/// measured to cost (in the spirit of SABER's scheduling: Koliousis et al., "SABER: Window-Based
/// Hybrid Stream Processing for Heterogeneous Architectures", SIGMOD 2016, section 4). Now and then
/// another engine tries some batches of a rule that takes time, beside the rule's own engine.
/// Outcomes are compared and costs are measured on the same terminators before the rule moves: at
/// once or, where costs are close, after an `Attempt`. `Watch` says when. Trying takes a fixed
/// share of the time. It does not touch semantic state, which lies in `RuleState`.
///
/// Used by one thread, between evaluations and while the history does not change.
class Placer {
 public:
  struct Options {
    /// The part of the time that goes into trying other engines.
    double exploration = 0.02;
    /// A rule moves when another engine costs less than this part of what the present one does.
    double gain = 0.8;
    /// The names of the engines that automatic rules may run on; the first is where they begin.
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
  /// Whether terminators are tried elsewhere, or soon will be, or an attempt goes on: batches
  /// should be short.
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
  /// Notes what an evaluation took, in nanoseconds of one thread.
  void observe(std::uint32_t rule, Post& post, std::uint64_t terminators, double nanoseconds);
  /// Has the engine on trial evaluate the terminators, too. `outcome` and `took`: what they gave on
  /// the rule's own engine, and nanoseconds of one thread that they took there.
  void try_elsewhere(std::uint32_t rule, const engine::Terminators& terminators,
                     const Outcome& outcome, double took);
  /// Adjusts the share of a rule's reserve so that both engines are done at the same time. `own`
  /// and `reserve`: how fast they were where they shared terminators.
  void balance(std::uint32_t rule, double own, double reserve);
  /// Learns how many threads work at the same time. `busy`: what they had to do; `took`: how long
  /// that took; both in nanoseconds. Many threads are worth less than their number, because they
  /// wait for each other, share caches, and small loads are not shared out.
  void watch_threads(double busy, double took);
  /// To be called when everything that was ready has been evaluated. `clock`: the time of the
  /// events.
  void settle(Timestamp clock);
  /// To be called when a batch is done. `took`: nanoseconds of wall-clock time that everything
  /// took, evaluation and all.
  void add_time(double took);
  /// Whether an attempt goes on.
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
    bool drifted = false;  ///< its cost has changed since it was looked at last
    double spent = 0;      ///< nanoseconds, by the clock on the wall
    std::vector<const engine::Engine*> to_try;  ///< engines of this round, the most promising last
    bool is_clear = true;               ///< what has been tried in this round is clearly worse
    std::vector<Candidate> candidates;  ///< to be attempted, one after the other
    std::uint64_t terminators = 0;      ///< evaluated when it was looked at last
    Timestamp clock = 0;                ///< the time of the events then
  };
  /// An engine that is being tried for a rule.
  struct Trial {
    std::uint32_t rule;
    const engine::Engine& engine;
    Shadow shadow;
    Comparison comparison;
    std::size_t evaluations = 0;
    bool has_caught_up = false;  ///< false: the next evaluation is not counted
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
  /// An attempt is worth making where one engine costs at most so many times what the other does.
  static double closeness(const engine::Engine& a, const engine::Engine& b);
  bool is_worth_trying(Placement& placement, const engine::Engine& engine, double spent) const;
  void begin_trial(std::uint32_t rule, const engine::Engine& engine);
  bool remember(Trial& trial);
  /// Nanoseconds since `start`.
  static double since(std::chrono::steady_clock::time_point start);
  /// Charges the trial for the time since `start`.
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
  /// What a terminator is estimated to cost, evaluation and upkeep, in nanoseconds.
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
  double threads_;   // how many work at the same time, on average
  /// Nanoseconds that trials may take; below 0, no trial begins until time has made up for it. At
  /// first there is enough to begin with.
  double credit_ = 15e6;
  double pause_ = 0;        // nanoseconds that trials have held up this batch for
  bool is_untidy_ = false;  // columns may have indexes that nobody holds
  std::uint64_t draws_ = 0;
};

}  // namespace gorgo::dispatch
