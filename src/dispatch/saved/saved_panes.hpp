#pragma once

#include <span>
#include <vector>

#include "dispatch/saved/saved_generated.h"
#include "engine/panes.hpp"

namespace gorgo::dispatch {

/// Copies what a rule with `@panes` keeps. `panes`: by aggregate.
void save_panes(std::span<const engine::Panes> panes, saved::RuleT& rule);

/// Brings it back. False: it is damaged.
bool restore_panes(const saved::RuleT& rule, std::vector<engine::Panes>& panes);

}  // namespace gorgo::dispatch
