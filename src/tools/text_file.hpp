#pragma once

#include <string>

#include "gorgo/diagnostics.hpp"

namespace gorgo::tools {

/// The whole file. Errors name it and say why.
Result<std::string> read_text_file(const std::string& path);

}  // namespace gorgo::tools
