#pragma once

#include <span>

#include "gorgo/diagnostics.hpp"
#include "gorgo/schema.hpp"
#include "language/language.hpp"
#include "plan/plan.hpp"

namespace gorgo::plan {

/// Reports the rules with `@panes` that cannot have them, each with its place.
Diagnostics problems_of_panes(std::span<const Plan* const> plans, const Schema& schema,
                              const language::Source& source);

}  // namespace gorgo::plan
