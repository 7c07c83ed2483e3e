#pragma once

#include "dispatch/rules/placement.hpp"
#include "engine/engine.hpp"

namespace gorgo::dispatch {

/// How many threads work at the same time, on average.
class Parallelism {
 public:
  explicit Parallelism(unsigned threads) : most_(threads), threads_(threads) {}

  /// Learns from a run. `busy`: what threads had to do; `took`: how long that took; both in
  /// nanoseconds. Many threads are worth less than their number, because they wait for each other,
  /// share caches, and small loads are not shared out.
  void learn(double busy, double took);
  /// Nanoseconds by the clock on the wall, of what takes an engine so long on one thread.
  double wall(const engine::Engine& engine, double nanoseconds) const {
    return engine.divides_terminators() ? nanoseconds / threads_ : nanoseconds;
  }

 private:
  const unsigned most_;
  double threads_;
};

/// What keeping indexes costs the rule for a terminator there, as far as it is known.
inline double upkeep_of(const EngineEntry& entry) {
  return entry.upkeep.per_terminator().value_or(0);
}

/// What a terminator costs there, evaluation and upkeep, by the clock on the wall; 0: not known.
inline double cost_of(const EngineEntry& entry, const Parallelism& parallelism) {
  return parallelism.wall(*entry.engine, entry.cost.per_terminator().value_or(0)) +
         upkeep_of(entry);
}

}  // namespace gorgo::dispatch
