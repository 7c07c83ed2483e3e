#pragma once

#include <algorithm>

#include "gorgo/processor.hpp"

namespace gorgo::server {

/// The share of one thread that a rule takes with so many terminators in a second, as its engine
/// was measured of late; 0: nothing was measured.
inline double load_of(const RuleInfo& rule, double terminators_per_second) {
  const auto cost = std::ranges::find(rule.costs, rule.engine, &EngineCost::engine);
  if (cost == rule.costs.end()) return 0;
  constexpr double kNanosecond = 1e-9;
  return terminators_per_second * kNanosecond *
         (cost->measured.value_or(0) + cost->upkeep.value_or(0));
}

}  // namespace gorgo::server
