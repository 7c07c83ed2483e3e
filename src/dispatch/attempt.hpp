#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/engine.hpp"

namespace gorgo::dispatch {

/// Where the terminators of a rule go: all to one engine, or some of them to a second one at the
/// same time.
struct Arrangement {
  const engine::Engine* engine = nullptr;
  const engine::Engine* reserve = nullptr;  ///< null: all go to `engine`

  std::string to_string() const;
};

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
/// the time of everything, so that is compared, for a while before and for a while after.
class Attempt {
 public:
  /// `hope`: nanoseconds of a terminator that may be won. `terminators`: of the rule so far.
  Attempt(std::uint32_t rule, Arrangement before, Arrangement after, double hope,
          std::uint64_t terminators)
      : rule_(rule), before_(before), after_(after), hope_(hope), seen_(terminators) {}

  std::uint32_t rule() const { return rule_; }
  const Arrangement& before() const { return before_; }
  const Arrangement& after() const { return after_; }

  enum class Verdict { go_on, begin, keep, give_up };
  /// `took`: nanoseconds, of everything. `terminators`: of the rule so far.
  Verdict add(double took, std::uint64_t terminators);
  /// Whether the rule is arranged anew.
  bool has_begun() const { return begun_; }
  /// What came out, for people.
  std::string result() const;

 private:
  struct Stretch {
    double took = 0;
    std::uint64_t terminators = 0;
    std::size_t steps = 0;
    bool is_enough() const;
    double each() const { return terminators == 0 ? 0 : took / static_cast<double>(terminators); }
  };
  bool is_better() const;

  std::uint32_t rule_;
  Arrangement before_, after_;
  double hope_;
  std::uint64_t seen_;
  bool begun_ = false;
  Stretch without_, with_;
};

}  // namespace gorgo::dispatch
