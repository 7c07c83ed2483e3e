#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/placement/moves.hpp"
#include "dispatch/placement/policy.hpp"
#include "dispatch/placement/prospects.hpp"
#include "dispatch/placement/trial.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Moves rules that nobody has pinned to the engines where they cost least, by what they are
/// measured to cost (in the spirit of SABER's scheduling: Koliousis et al., "SABER: Window-Based
/// Hybrid Stream Processing for Heterogeneous Architectures", SIGMOD 2016, section 4). Costs are
/// noted where they arise, with the rules (`EngineEntry`); `Policy` says what to do about them. Now
/// and then a `Trial` has another engine evaluate some batches of a rule beside its own engine.
/// Trials have a fixed share of the time. Semantic state, which lies in `RuleState`, is not
/// touched.
///
/// Used by one thread, between evaluations and while the history does not change.
class Placer {
 public:
  struct Options {
    /// The part of the time that goes into trials, once some time has gone by.
    double exploration = 0.02;
    /// A device and the threads share a rule if that promises to cost less than this part of what
    /// the better one of them costs alone.
    double sharing = 0.8;
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
        parallelism_(options.threads),
        prospects_(rules, history, parallelism_, options_.choices),
        moves_(rules, history, parallelism_) {}

  /// Where so many terminators of the rule are evaluated next.
  Routing place(std::uint32_t rule, std::size_t terminators);
  /// Whether any rule's terminators are tried elsewhere.
  bool is_trying() const { return !trials_.empty(); }
  /// Whether the rule's terminators are tried elsewhere this time: `try_elsewhere` is to be called
  /// with them when they are evaluated.
  bool is_tried(std::uint32_t rule) const { return is_trying() && tried_.contains(rule); }
  /// Whether the rule is tried elsewhere together with others.
  bool is_tried_together(std::uint32_t rule) const {
    return is_tried(rule) && tried_.at(rule)->is_of_several();
  }
  /// Whether the rule has moved and may go back.
  bool is_on_probation(std::uint32_t rule) const { return moves_.is_on_probation(rule); }
  /// Whether batches should be short, because it is being found out where rules run best.
  bool is_undecided() const { return is_trying(); }

  /// Whether an evaluation of so many terminators is to be timed.
  bool is_timed(std::uint32_t rule, std::size_t terminators) {
    return placement(rule).is_timed(terminators) || is_tried(rule);
  }
  /// Notes what an evaluation took, in nanoseconds of one thread.
  void observe(std::uint32_t rule, EngineEntry& entry, std::uint64_t terminators,
               double nanoseconds);
  /// Has the engines on trial evaluate the terminators of tried rules, too.
  void try_elsewhere(std::span<const Evaluated> evaluated);
  /// Adjusts the share of a rule's reserve so that both engines are done at the same time. `own`
  /// and `reserve`: how fast they were where they shared terminators.
  void balance(std::uint32_t rule, double own, double reserve) {
    moves_.balance(rule, own, reserve);
  }
  /// See Parallelism.
  void watch_threads(double busy, double took) { parallelism_.learn(busy, took); }
  /// To be called when everything that was ready has been evaluated. `clock`: the time of the
  /// events.
  void settle(Timestamp clock);
  /// To be called when a batch is done. `took`: nanoseconds by the clock on the wall that
  /// everything took, evaluation and all.
  void add_time(double took) { took_ += took; }

 private:
  /// What is known of a rule that takes time.
  struct Heavy {
    Policy policy;
    std::vector<const engine::Engine*> to_try;  ///< engines of this round, the most promising last
    bool is_clear = true;  ///< what has been tried in this round is clearly worse
  };
  /// When rules are to be tried on a device together.
  struct Together {
    Policy policy;
    double spent = 0;        ///< nanoseconds since the last time
    double interval = 15e6;  ///< until the next one
  };
  /// What a trial found that a terminator costs on an engine.
  struct Found {
    double evaluation, upkeep = 0;

    double all() const { return evaluation + upkeep; }
  };
  /// An engine that may share the rule's terminators with the present one.
  struct Candidate {
    const engine::Engine* engine;
    Found cost;
  };
  using Own = std::vector<const Evaluated*>;

  const DeployedRule& rule(std::uint32_t number) const { return rules_.rule(number); }
  Placement& placement(std::uint32_t number) { return rules_.placement(number); }
  Heavy& heavy(std::uint32_t number) { return heavy_[rule(number).serial]; }
  Routing at_random(std::uint32_t number, std::size_t terminators);
  std::uint64_t draw();
  void earn();
  void catch_up_with_changes();

  bool consider(std::uint32_t number, Timestamp clock);
  void consider_together(Timestamp clock);

  void begin_trial(const engine::Engine& engine, std::span<const std::uint32_t> rules);
  bool try_elsewhere(Trial& trial, const Own& own);
  bool find_difference(Trial& trial, const Own& own);
  void judge(Trial& trial);
  void judge_alone(Trial& trial, const Found& own, const Found& other);
  bool share_with(std::uint32_t number, const Candidate& other, const Found& own);
  void share_with_former(const Moves::Rule& moved, double ratio);
  void raise_alarm(std::uint32_t number, const engine::Engine& other,
                   const Shadow::Difference& difference);
  template <class IsOver>
  void end_trials(IsOver is_over);
  void end_trial(const Trial& trial);

  void go(Trial& trial, const Arrangement& after, const std::string& reason);
  void note(const Moves::Ended& ended);
  bool is_in_use(const engine::Engine& device) const;

  RuleSet& rules_;
  history::History& history_;
  const Options options_;
  const std::atomic<bool>& stop_;
  Parallelism parallelism_;
  Prospects prospects_;
  Moves moves_;
  std::uint64_t generation_ = 0;          // of the rule set
  std::map<std::uint64_t, Heavy> heavy_;  // by serial
  std::vector<std::uint64_t> due_;        // serials of rules that have taken time lately
  std::list<Trial> trials_;
  std::map<std::uint32_t, Trial*> tried_;  // by number
  Together together_;
  double took_ = 0;     // nanoseconds for everything, since it was settled
  double elapsed_ = 0;  // nanoseconds for everything, from the beginning
  /// Nanoseconds that trials may take; below 0, no trial begins until time has made up for it.
  double credit_ = 0;
  double pause_ = 0;  // nanoseconds that trials have held up this batch for
  std::uint64_t draws_ = 0;
};

}  // namespace gorgo::dispatch
