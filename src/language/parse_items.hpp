#pragma once

#include <functional>

#include "TeslaParser.h"
#include "language/language.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {

/// Hands the parse tree of each item without syntax errors to `take`, in text order, and reports
/// the errors of the others. A tree and its tokens live until `take` returns.
void parse_items(const Source& source, Reporter& reporter,
                 const std::function<void(grammar::TeslaParser::ItemContext*)>& take);

}  // namespace gorgo::language
