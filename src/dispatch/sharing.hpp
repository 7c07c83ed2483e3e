#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dispatch/placement.hpp"
#include "engine/engine.hpp"

namespace gorgo::dispatch {

/// A device and the CPU's other threads, which may work on terminators of one rule at the same
/// time, as Karnagel et al., "Stream Join Processing on Heterogeneous Processors" (BTW 2013) have
/// CPU and GPU share a join. There all take from one queue; here each gets a share by its measured
/// speed, because a device takes its time for any number.
struct Pair {
  const engine::Engine* device = nullptr;
  const engine::Engine* threads = nullptr;
};

/// Unset unless one of the engines is a device and the other shares terminators among threads.
std::optional<Pair> pair_of(const engine::Engine& a, const engine::Engine& b);

/// What a terminator costs where the pair shares them, from what it costs alone, in nanoseconds:
/// speeds add up. `threads`: those that do not wait for the device.
double shared_cost(double device, double thread, double threads);
/// The part of the terminators that is the threads'.
double share_of_threads(double device, double thread, double threads);

/// An attempt to have a pair share the terminators of a rule. What sharing costs beside the
/// evaluation (an index more to keep, caches) shows in the time of everything only, so that is
/// compared: for a while without it, for a while with it.
class SharingAttempt {
 public:
  /// `alone`: the engine of the rule meanwhile. `gain`: nanoseconds of a terminator's evaluation
  /// that are hoped for. `terminators`: of the rule so far.
  SharingAttempt(std::uint32_t rule, Pair pair, const engine::Engine& alone, double gain,
                 std::uint64_t terminators)
      : rule_(rule), pair_(pair), alone_(alone), gain_(gain), seen_(terminators) {}

  std::uint32_t rule() const { return rule_; }
  const Pair& pair() const { return pair_; }
  const engine::Engine& alone() const { return alone_; }

  enum class Verdict { go_on, begin, keep, give_up };
  /// `took`: nanoseconds, of everything. `terminators`: of the rule so far.
  Verdict add(double took, std::uint64_t terminators);
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

  std::uint32_t rule_;
  Pair pair_;
  const engine::Engine& alone_;
  double gain_;
  std::uint64_t seen_;
  bool begun_ = false;
  Stretch without_, with_;
};

}  // namespace gorgo::dispatch
