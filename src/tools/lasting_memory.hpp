#pragma once

#include <string>
#include <vector>

#include "language/language.hpp"

namespace gorgo::tools {

/// The types of composite events that may depend on events of any age: on what their rule has
/// produced (`@at_most`), counted (`every`) or consumed before.
std::vector<std::string> types_with_lasting_memory(const language::Source& rules);

}  // namespace gorgo::tools
