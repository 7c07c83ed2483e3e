#pragma once

#include <cstdint>
#include <string>

namespace gorgo::journal {

struct TrialCounts {
  std::uint64_t trials = 0;
  std::uint64_t crashes = 0;      ///< power failures and kills
  std::uint64_t in_recovery = 0;  ///< those while the journal was opened
  std::uint64_t kills = 0;
  std::uint64_t failed = 0;  ///< journals that failed because of their disk
  std::uint64_t torn = 0;    ///< recoveries that cut something off
  std::uint64_t steps = 0;
  std::string problem;  ///< of the first trial that has one, with its seed
};

/// Runs trials with the seeds from `seed` on, each with some of the faults, until there were so
/// many crashes or one finds a problem.
TrialCounts run_random_trials(std::uint64_t seed, std::uint64_t crashes);

}  // namespace gorgo::journal
