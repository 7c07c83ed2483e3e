#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/workload.hpp"

namespace gorgo::bench {

/// The base scenario of Cugola and Margara (JPDC 2012, section 6, table 1) and what its sweeps
/// vary. Types S0, S1, ... are equally frequent; S0 is the terminator, each state's window reaches
/// back from the one before. One event a millisecond; attributes are ints, uniform in [1, values].
struct BaseParameters {
  std::string selection = "last";
  std::int64_t window = 100'000;  ///< milliseconds, hence events
  std::int64_t values = 50'000;   ///< 0: so many that a state has about one match
  int states = 3;
  int aggregates = 1;  ///< over the events of the last state, in the window of that state
  int accepted = 100;  ///< per cent of the aggregates that a filter lets pass
  int rules = 1;
  int groups = 1;                  ///< sets of types, one of which each rule reads
  int negations = 0;               ///< types N0, N1, ..., between terminator and S1
  bool negation_parameter = true;  ///< else a constant condition of about the same strictness
  int rejected = -1;               ///< if not negative: about so many per cent of S1's events are
                                   ///< rejected by negations over the values just before them
  int parameters = 1;              ///< 0 to 2 equalities between the states
  int attributes = 3;              ///< per event, at least 3
  int each_states = -1;            ///< if not negative: so many of the states behind S0 are `each`
  int consumed = 0;                ///< states behind the terminator that are consumed
  int late_share = 0;              ///< per cent of events that are late by up to a second
  std::int64_t passed = 0;         ///< events that went by before anything is measured, if more
                                   ///< than fill the windows
  unsigned threads = 0;            ///< threads that evaluate rules; 0: as the report's limits say

  friend bool operator==(const BaseParameters&, const BaseParameters&) = default;
};

Workload base_workload(const BaseParameters& parameters);

/// The sweeps over these parameters.
void add_base_sweeps(std::vector<Sweep>& sweeps);

}  // namespace gorgo::bench
