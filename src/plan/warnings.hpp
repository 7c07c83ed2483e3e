#pragma once

#include <span>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/schema.hpp"
#include "language/language.hpp"
#include "plan/plan.hpp"

namespace gorgo::plan {

/// Warns of what is legal in the rules of a text but hardly meant, each with its rule's place:
/// rules that can never fire, negations and aggregates over nothing, `each` states that nothing
/// links, states taken to come after what they are looked for before, floats compared with `=`.
/// `added` are the plans of the text's rules.
Diagnostics rule_warnings(std::span<const Plan* const> added, const Schema& schema,
                          const language::Source& source);
/// Warns of the cycles that go through an added rule, each with that rule's place. `cycles` has,
/// for each cycle, the plans of the rules that close it.
Diagnostics cycle_warnings(std::span<const Plan* const> added,
                           std::span<const std::vector<const Plan*>> cycles, const Schema& schema,
                           const language::Source& source);
/// Gives the warnings of both kinds. `others` are the plans of the rules that are there already.
Diagnostics warnings(std::span<const Plan* const> added, std::span<const Plan* const> others,
                     const Schema& schema, const language::Source& source);

}  // namespace gorgo::plan
