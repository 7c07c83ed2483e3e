#pragma once

#include "plan/explain.hpp"
#include "tools/rule_sources.hpp"

namespace gorgo::tools {

/// How the rules are evaluated, with the engine of each rule and, where that engine leaves the rule
/// to another one, why.
plan::Explanation explained(const RuleSources& sources);

}  // namespace gorgo::tools
