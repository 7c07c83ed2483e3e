#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/rules/placement.hpp"

namespace gorgo::dispatch {

/// The arrangement with a device and the CPU's other threads side by side, as CPU and GPU share a
/// join in Karnagel et al., "Stream Join Processing on Heterogeneous Processors" (BTW 2013). In the
/// paper both take from one queue; here each gets a share by its speed, because a device has a
/// fixed cost for any number of terminators. Unset unless one of the engines is a device and the
/// other shares terminators among threads.
std::optional<Arrangement> side_by_side(const engine::Engine& a, const engine::Engine& b);

/// What a terminator costs where two engines share the terminators. `a` and `b` are what it costs
/// with each of them alone, in any unit. The speeds add up.
inline double shared_cost(double a, double b) { return 1 / (1 / a + 1 / b); }

/// An attempt at another arrangement for a rule where the costs of evaluations do not decide. What
/// an engine costs beside its evaluations (indexes to keep, threads and caches that others want)
/// shows only in the time of everything. So the two arrangements take turns, a stretch of time
/// each, until it is plain which one is better. This is a sequential test (Wald, "Sequential Tests
/// of Statistical Hypotheses", 1945) of the mean ratio of neighbouring turns, on which the pace of
/// the machine has little influence. It is over soon where the other arrangement is worse, or much
/// better.
class Attempt {
 public:
  /// What the attempt may bring, in nanoseconds of a terminator.
  struct Prospect {
    double hope = 0;   ///< the most that may be won
    double least = 0;  ///< what a terminator takes afterwards in any case
  };
  /// `terminators`: how many the rule has evaluated so far.
  Attempt(std::uint32_t rule, Arrangement before, Arrangement after, const Prospect& prospect,
          std::uint64_t terminators)
      : rule_(rule), before_(before), after_(after), prospect_(prospect), seen_(terminators) {}

  std::uint32_t rule() const { return rule_; }
  const Arrangement& before() const { return before_; }
  const Arrangement& after() const { return after_; }
  bool concerns(const engine::Engine& engine) const {
    return before_.has(engine) || after_.has(engine);
  }
  /// The arrangement whose turn it is.
  const Arrangement& turn() const { return is_after_ ? after_ : before_; }
  /// Whether it is the turn of `after`.
  bool is_away() const { return is_after_; }

  enum class Verdict { go_on, take_turns, keep, give_up };
  /// Adds a step. `took`: nanoseconds that everything took. `terminators`: how many the rule has
  /// evaluated so far.
  Verdict add(double took, std::uint64_t terminators);
  /// Leaves out a step and begins the turn anew.
  void pass(std::uint64_t terminators);
  /// Whether there was enough to hope for, so that the arrangements take turns.
  bool has_begun() const { return has_begun_; }
  /// Nanoseconds that the attempt has cost.
  double loss() const;
  /// What came out, for people.
  std::string result() const;

 private:
  struct Total {
    double took = 0;
    std::uint64_t terminators = 0;

    double each() const { return terminators == 0 ? 0 : took / static_cast<double>(terminators); }
    void add(const Total& other) {
      took += other.took;
      terminators += other.terminators;
    }
  };
  struct Stretch {
    std::vector<Total> steps;  ///< that count; each has terminators, except perhaps the last
    double took = 0;
    std::size_t uncounted = 0, all = 0;  ///< numbers of steps
    bool is_counted = false;

    bool is_enough() const;
    /// The total of all steps but the slowest, which show what else happens on the machine.
    Total typical() const;
  };

  /// Logarithms of ratios: the time of a terminator in a turn by that in the turn before.
  struct Turns {
    unsigned count = 0;
    double sum = 0, squares = 0;

    void add(double ratio);
    double mean() const { return sum / count; }
    /// The standard error of the mean.
    double error() const;
  };

  Verdict end_of_stretch();
  double hope() const;

  std::uint32_t rule_;
  Arrangement before_, after_;
  Prospect prospect_;
  std::uint64_t seen_;
  bool is_after_ = false, has_begun_ = false;
  Turns turns_;
  Stretch now_;           // the stretch in hand
  double last_ = 0;       // nanoseconds of a terminator in the stretch before
  Total without_, with_;  // all stretches of `before_` and of `after_`
  Total away_;            // all steps of `after_`, counted or not
};

}  // namespace gorgo::dispatch
