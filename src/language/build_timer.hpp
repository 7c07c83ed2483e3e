#pragma once

#include "language/ast.hpp"
#include "language/reporter.hpp"

/// Timers, which are written like predicates.
namespace gorgo::language {

bool is_timer(const ast::Predicate& predicate);
/// The timer that a terminator states. Precondition: `is_timer(predicate)`.
ast::Timer build_timer(const ast::Predicate& predicate, Reporter& reporter);
/// Reports a timer that is not the terminator.
void refuse_timer(const ast::Predicate& predicate, Reporter& reporter);

}  // namespace gorgo::language
