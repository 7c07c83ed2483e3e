#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dispatch/placement/ratios.hpp"
#include "dispatch/placement/tuning.hpp"
#include "dispatch/rules/placement.hpp"

namespace gorgo::dispatch {

/// What should happen to rules, as `decide` says.
struct Directive {
  enum class Kind {
    run,    ///< all terminators of the rules go as arranged
    share,  ///< the same, to two engines at once
    trial,  ///< another engine evaluates the rule's batches once more
    drop,   ///< the engine has proved to be worse and is left alone
  };
  Kind kind;
  std::vector<std::uint64_t> rules;  ///< serials; several only where they move together
  Arrangement where;
  std::string reason;  ///< for people
};

/// What something has cost of late, on average.
class Average {
 public:
  /// So many more took so long.
  void add(double nanoseconds, double of);
  bool is_known() const { return of_ > 0; }
  /// Nanoseconds for each. Precondition: it is known.
  double value() const { return nanoseconds_ / of_; }

 private:
  double nanoseconds_ = 0, of_ = 0;
};

/// What is measured about rules that take time, and what has become of the engines that were tried
/// for them. `decide` reads it and nothing else. All times are nanoseconds by the clock on the
/// wall; a cost is that of a terminator, with the rule's part of keeping indexes. Rules are known
/// by their serials.
class Ledger {
 public:
  /// An engine for a rule, and how it does where it is tried beside the rule's own engine.
  struct Option {
    enum class Ability : std::uint8_t { unknown, able, unable };

    const engine::Engine* engine;
    Ability ability = Ability::unknown;  ///< whether it takes the rule; unknown: it is not ready
    bool is_hindered = false;            ///< by late events, of which there have been many lately
    double start = 0;                    ///< what taking in what is remembered may take
    double upkeep = 0;                   ///< of a terminator
    bool is_tried = false;
    bool is_warming_up = false;  ///< its evaluations say little, because it gets something ready
    bool has_caught_up = false;  ///< false: the next evaluation is the first
    double began = 0;            ///< when its trial began
    double last = 0;             ///< when it was evaluated last, or its trial began
    double took = 0;             ///< the evaluations that are compared
    double spent = 0;            ///< the whole trial
    Ratios ratios;               ///< evaluation there by evaluation on the rule's own engine
    double rest = 0;             ///< how long it was left alone the last time
    double until = 0;            ///< it is left alone until the rule has taken so long

    explicit Option(const engine::Engine* engine_to_try) : engine(engine_to_try) {}
  };

  /// Rules that have gone elsewhere together, and whether that has proved to be better. Costs
  /// before the move count as they were then.
  struct Proof {
    struct Member {
      std::uint64_t serial;
      Arrangement before;
      double cost, upkeep;  ///< before; `upkeep` is a part of `cost`
    };
    std::vector<Member> members;
    Ratios ratios;  ///< what terminators took by what they took before
    double took = 0;
    double loss = 0;  ///< what the move has cost so far; below 0: it has won

    struct Piece {
      double before = 0, took = 0;
    };
    Piece batch = {}, piece = {};
    bool has_caught_up = false;
  };

  struct Rule {
    Arrangement now;
    bool is_divisible = true;  ///< whether two engines may evaluate some terminators each
    double share = 0;          ///< the reserve's part of the terminators
    /// Events of the types that it reads, and how many of them were late, as they were counted
    /// when the rule was last looked at.
    std::uint64_t stored = 0, late = 0;
    double total = 0;  ///< all time that the rule has taken
    Average evaluation;
    double upkeep = 0;        ///< of a terminator
    double batch = 0;         ///< how many terminators come at a time
    double judged_cost = 0;   ///< when engines were last judged; 0: not known yet
    double judged_batch = 0;  ///< the same
    double unjudged = 0;      ///< time taken since then
    std::vector<Option> options;
    std::shared_ptr<Proof> proof;  ///< null unless the rule may go back

    /// Precondition: evaluation is known.
    double cost() const { return evaluation.value() + upkeep; }
    /// Null if the engine is none of the options.
    Option* find(const engine::Engine* engine);
    const Option* find(const engine::Engine* engine) const {
      return const_cast<Rule*>(this)->find(engine);
    }
    const Option* tried() const;
  };

  /// Time that trials may take; below 0, none begins until time has made up for it.
  double credit = -tuning::kDebt;

  /// The rule, made if it is not known.
  Rule& at(std::uint64_t serial) { return rules_[serial]; }
  const Rule* find(std::uint64_t serial) const;
  Rule* find(std::uint64_t serial) { return const_cast<Rule*>(std::as_const(*this).find(serial)); }
  const std::map<std::uint64_t, Rule>& rules() const { return rules_; }
  void forget(std::uint64_t serial);
  std::span<const std::shared_ptr<Proof>> proofs() const { return proofs_; }

  /// The rule has taken so long for so many terminators since the last call.
  void observe(Rule& rule, const Placement::Spent& spent);
  /// A rule on proof has taken so long for so many terminators within a batch. What an engine takes
  /// while it gets something ready proves nothing.
  static void prove(std::uint64_t serial, const Rule& rule, const Placement::Spent& spent,
                    bool is_warming_up);
  /// A batch is done. What a device takes for several rules is divided among them somehow, so only
  /// the sum over all rules of a batch means anything.
  void end_batch();
  /// An engine that is tried took `took` for what the rule's own engine did in `own`.
  static void compare(Option& option, double own, double took, bool is_warming_up, double now);

  /// Notes that this is done now.
  void carry_out(const Directive& directive, double now);

 private:
  void go(const Directive& directive);
  void end_proof(Rule& rule, std::uint64_t serial, const Arrangement& worse);

  std::map<std::uint64_t, Rule> rules_;
  std::vector<std::shared_ptr<Proof>> proofs_;
};

}  // namespace gorgo::dispatch
