#pragma once

#include "plan/explain.hpp"
#include "tools/rule_sources.hpp"

namespace gorgo::tools {

/// How the rules are evaluated, with the engine of each and, where it leaves the rule to another,
/// why.
plan::Explanation explained(const RuleSources& sources);

}  // namespace gorgo::tools
