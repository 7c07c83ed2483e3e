#pragma once

#include <span>

#include "gorgo/diagnostics.hpp"
#include "gorgo/schema.hpp"
#include "language/language.hpp"
#include "plan/plan.hpp"

namespace gorgo::plan {

/// What is legal in the rules of a text but hardly meant, each with its rule's place: rules that
/// can never fire, negations and aggregates over nothing, `each` states that nothing links, floats
/// compared with `=`, and cycles. `added` are the plans of the text's rules, `others` those that
/// are there already: a cycle is reported when it goes through an added rule.
Diagnostics warnings(std::span<const Plan* const> added, std::span<const Plan* const> others,
                     const Schema& schema, const language::Source& source);

}  // namespace gorgo::plan
