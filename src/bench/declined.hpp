#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gorgo/processor.hpp"

namespace gorgo::bench {

/// Terminators that an engine did not evaluate itself.
struct Declined {
  std::uint64_t terminators = 0;
  std::string by;       ///< the engine that evaluated them
  std::string because;  ///< why, the last time
};

/// What was declined between two looks at the same rules, an entry for each evaluating engine and
/// reason. `engine`: what the rules were deployed for.
std::vector<Declined> declined_between(std::span<const RuleInfo> before,
                                       std::span<const RuleInfo> after, const std::string& engine);

/// Adds entries, so that one stays for each evaluating engine and reason.
void add(std::vector<Declined>& all, std::span<const Declined> more);

}  // namespace gorgo::bench
