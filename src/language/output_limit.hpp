#pragma once

#include <optional>

#include "gorgo/rule.hpp"
#include "language/ast.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {

/// What `@at_most(N, per = TIME, by = attribute, ...)` before the rule says; nothing without it, or
/// after an error.
std::optional<OutputLimit> bind_output_limit(const ast::RuleDefinition& rule, Reporter& reporter);

}  // namespace gorgo::language
