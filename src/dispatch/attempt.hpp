#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/placement.hpp"

namespace gorgo::dispatch {

/// A device and the CPU's other threads side by side, as Karnagel et al., "Stream Join Processing
/// on Heterogeneous Processors" (BTW 2013) have CPU and GPU share a join. There all take from one
/// queue; here each gets a share by its speed, because a device takes its time for any number.
/// Unset unless one of the engines is a device and the other shares terminators among threads.
std::optional<Arrangement> side_by_side(const engine::Engine& a, const engine::Engine& b);

/// What a terminator costs where both evaluate some, from what it costs with each alone: speeds add
/// up. In any unit.
inline double shared_cost(double a, double b) { return 1 / (1 / a + 1 / b); }

/// An attempt at another arrangement for a rule where what evaluations cost does not decide: what
/// an engine costs beside them (indexes to keep, threads and caches that others want) shows only in
/// the time of everything. So the two take turns, a stretch of time each, until it is plain which
/// is the better one: a sequential test (Wald, "Sequential Tests of Statistical Hypotheses", 1945)
/// of the mean ratio of neighbouring turns, to which the pace of the machine matters little. It is
/// over soon where the other one is the worse, or much the better.
class Attempt {
 public:
  /// In nanoseconds of a terminator:
  struct Prospect {
    double hope = 0;   ///< that may be won
    double least = 0;  ///< that it takes afterwards in any case
  };
  /// `terminators`: of the rule so far.
  Attempt(std::uint32_t rule, Arrangement before, Arrangement after, const Prospect& prospect,
          std::uint64_t terminators)
      : rule_(rule), before_(before), after_(after), prospect_(prospect), seen_(terminators) {}

  std::uint32_t rule() const { return rule_; }
  const Arrangement& before() const { return before_; }
  const Arrangement& after() const { return after_; }
  bool concerns(const engine::Engine& engine) const {
    return before_.has(engine) || after_.has(engine);
  }
  /// How the rule is to be arranged now.
  const Arrangement& turn() const { return is_after_ ? after_ : before_; }
  /// Whether that is the other arrangement.
  bool is_away() const { return is_after_; }

  enum class Verdict { go_on, take_turns, keep, give_up };
  /// `took`: nanoseconds, of everything. `terminators`: of the rule so far.
  Verdict add(double took, std::uint64_t terminators);
  /// Not this one: the turn begins anew.
  void pass(std::uint64_t terminators);
  /// Whether the rule has been arranged anew.
  bool has_begun() const { return has_begun_; }
  /// Nanoseconds that it has cost.
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
    std::vector<Total> steps;  ///< that count; each has terminators, but perhaps the last
    double took = 0;
    std::size_t uncounted = 0, all = 0;  ///< steps
    bool is_counted = false;

    bool is_enough() const;
    /// Of all but the slowest steps: they are what else happens on the machine.
    Total typical() const;
  };

  /// Logarithms of what a turn took as a part of what the one before did.
  struct Turns {
    unsigned count = 0;
    double sum = 0, squares = 0;

    void add(double ratio);
    double mean() const { return sum / count; }
    /// Of the mean; the standard error.
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
  Stretch now_;           // the one in hand
  double last_ = 0;       // nanoseconds of a terminator, in the stretch before
  Total without_, with_;  // all together
  Total away_;            // what has been spent on the other arrangement, all steps
};

}  // namespace gorgo::dispatch
