#pragma once

#include <optional>

#include "gorgo/rule.hpp"
#include "language/ast.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {

/// Binds the timer that a rule has as its terminator.
std::optional<Timer> bind_timer(const ast::Timer& timer, Reporter& reporter);

}  // namespace gorgo::language
