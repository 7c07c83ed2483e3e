#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/placement/ledger.hpp"
#include "dispatch/placement/trial_evaluation.hpp"
#include "dispatch/placement/tuning.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// What a rule's own engine gave for some terminators.
struct Evaluated {
  std::uint32_t rule;
  engine::Terminators terminators;  ///< all of them are done
  Outcome outcome;
  double took;  ///< nanoseconds of one thread
};

/// Has rules that nobody has pinned run on the engines where they cost least, by what they are
/// measured to cost (in the spirit of SABER's scheduling: Koliousis et al., "SABER: Window-Based
/// Hybrid Stream Processing for Heterogeneous Architectures", SIGMOD 2016, section 4). It tells the
/// `Ledger` what is measured, asks `decide`, and does that. Semantic state, which lies in
/// `RuleState`, is not touched.
///
/// Used by one thread, between evaluations and while the history does not change.
class Placer {
 public:
  struct Options {
    /// The part of the time that goes into trials, once some time has gone by.
    double exploration = tuning::kExploration;
    /// The names of the engines that automatic rules may run on; the first is where they begin. A
    /// device comes before an automaton: where both are worth a trial, it has more to give.
    std::vector<std::string_view> choices = {"column", "cuda", "automaton"};
    /// Not 0: rules move at random, before every evaluation; for tests.
    std::uint64_t shuffle = 0;
    unsigned threads = 1;
    /// Is told when two engines disagree about a terminator of a rule. The rule's placement says
    /// what differs.
    std::function<void(const DeployedRule&, history::Slot)> on_alarm;
  };

  Placer(RuleSet& rules, history::History& history, const Options& options,
         const std::atomic<bool>& stop)
      : rules_(rules), history_(history), options_(options), stop_(stop) {}

  /// Where so many terminators of the rule are evaluated next.
  Routing place(std::uint32_t rule, std::size_t terminators);
  /// Whether any rule's terminators are tried elsewhere. Batches should be short meanwhile.
  bool is_trying() const { return !trials_.empty(); }
  /// Whether the rule's terminators are tried elsewhere this time: `try_elsewhere` is to be called
  /// with them when they are evaluated.
  bool is_tried(std::uint32_t rule) const { return is_trying() && trials_.contains(rule); }
  /// What is known of where rules run.
  const Ledger& ledger() const { return ledger_; }

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
  void balance(std::uint32_t rule, double own, double reserve);
  /// Learns how many threads work at the same time, from a run in which they had to do `busy`
  /// nanoseconds and which took `took`. Many threads are worth less than their number, because they
  /// wait for each other, share caches, and small loads are not shared out.
  void watch_threads(double busy, double took) { threads_.add(busy, took); }
  /// To be called when everything that was ready has been evaluated.
  void settle();
  /// There is no memory for what it does: forgets all that it knows of rules, which stay where they
  /// are, and gives back what other engines hold.
  void give_up();
  /// To be called when a batch is done. `took`: nanoseconds by the clock on the wall that
  /// everything took, evaluation and all.
  void add_time(double took) { took_ += took; }

 private:
  /// An engine that evaluates a rule's batches once more.
  struct Trial {
    std::uint64_t serial;  ///< of the rule
    const engine::Engine* engine;
    TrialEvaluation evaluation = {};
  };

  const DeployedRule& rule(std::uint32_t number) const { return rules_.rule(number); }
  Placement& placement(std::uint32_t number) { return rules_.placement(number); }
  Ledger::Option& option_of(const Trial& trial);
  Routing at_random(std::uint32_t number, std::size_t terminators);
  std::uint64_t draw();
  void earn();
  void decide_what_is_due();
  void catch_up_with_changes();
  double wall(const engine::Engine& engine, double nanoseconds) const;

  void look(std::uint32_t number, const Placement::Spent& spent);
  void begin_to_know(Ledger::Rule& known, std::uint32_t number);
  void look_at_engines(Ledger::Rule& known, std::uint32_t number);
  double note_upkeep(std::uint32_t number);

  void carry_out(const Directive& directive);
  void begin_trial(std::uint32_t number, const engine::Engine& engine);
  void prepare(std::uint32_t number, EngineEntry& entry);
  void arrange(std::uint32_t number, const Arrangement& arrangement, const std::string& reason);
  void leave_few(std::uint32_t number, const engine::Engine& reserve);
  void withdraw_idle(std::uint32_t number);

  void try_elsewhere(Trial& trial, const Evaluated& own);
  void charge(Ledger::Option& option, double nanoseconds);
  void raise_alarm(std::uint32_t number, const engine::Engine& other,
                   const TrialEvaluation::Difference& difference);

  RuleSet& rules_;
  history::History& history_;
  const Options options_;
  const std::atomic<bool>& stop_;
  Ledger ledger_;
  Average threads_;                        // at work at the same time
  std::uint64_t generation_ = 0;           // of the rule set
  std::set<std::uint64_t> due_;            // serials of rules of which more is known now
  std::map<std::uint32_t, Trial> trials_;  // by the number of the rule
  bool is_untidy_ = false;                 // columns may have indexes that nobody holds
  double took_ = 0;                        // nanoseconds for everything, since it was settled
  double elapsed_ = 0;                     // nanoseconds for everything, from the beginning
  double pause_ = 0;                       // nanoseconds that trials have held up this batch for
  std::uint64_t draws_ = 0;
};

}  // namespace gorgo::dispatch
