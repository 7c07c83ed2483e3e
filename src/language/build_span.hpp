#pragma once

#include "TeslaParser.h"
#include "language/ast.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {

/// Builds `within WINDOW from STATE`, `within WINDOW after STATE` or `between STATE and STATE`.
ast::Span build_span(grammar::TeslaParser::SpanContext* span, Reporter& reporter);

}  // namespace gorgo::language
