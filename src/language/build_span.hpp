#pragma once

#include <optional>

#include "TeslaParser.h"
#include "language/ast.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {

/// Builds `within WINDOW from STATE`, `within WINDOW after STATE` or `between STATE and STATE`.
ast::Span build_span(grammar::TeslaParser::SpanContext* span, Reporter& reporter);

/// The width of a window that this literal stands for: a time, or a number of milliseconds.
std::optional<Duration> width_of(const ast::Expr& literal);
/// Time counts in nanoseconds, so a window that includes its end is one longer.
void set_width(ast::Span& span, Duration width);

}  // namespace gorgo::language
