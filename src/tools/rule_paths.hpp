#pragma once

#include <string>
#include <vector>

#include "gorgo/diagnostics.hpp"

namespace gorgo::tools {

/// The rule files that paths stand for, in their order: a file stands for itself, a folder for the
/// *.tesla files in it, sorted by name. A file that is named twice is there once. An error: a
/// folder cannot be read, or has none.
Result<std::vector<std::string>> rule_files(const std::vector<std::string>& paths);

}  // namespace gorgo::tools
