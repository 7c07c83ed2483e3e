#pragma once

#include <string>
#include <vector>

#include "gorgo/processor.hpp"

namespace gorgo::tools {

/// A Python module with a dataclass for each type that rules read or bring about, in the order of
/// their names, for the Python client.
std::string python_classes(const std::vector<TypeInfo>& types, const std::vector<RuleInfo>& rules);

}  // namespace gorgo::tools
