#pragma once

#include <string>
#include <vector>

#include "gorgo/processor.hpp"

namespace gorgo::tools {

/// What rules wait for in vain while events have something that is called nearly the same: types,
/// and attributes of types. A sentence each, for people.
std::vector<std::string> misspelt_in(const std::vector<TypeInfo>& types);

}  // namespace gorgo::tools
