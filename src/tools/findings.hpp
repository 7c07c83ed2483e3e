#pragma once

#include <string>
#include <vector>

#include "gorgo/processor.hpp"

namespace gorgo::tools {

/// What stands out about a server's rules and the types that they read: a sentence or two each,
/// with what to do about it.
std::vector<std::string> findings_about(const std::vector<RuleInfo>& rules,
                                        const std::vector<TypeInfo>& types);

}  // namespace gorgo::tools
