#pragma once

#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"

namespace gorgo::tools {

/// The whole file, which may be a pipe; `-` is standard input. Errors name it and say why.
Result<std::string> read_text(const std::string& path);
/// Replaces the content of the file, or makes it.
Result<void> write_text_file(const std::string& path, std::string_view text);

}  // namespace gorgo::tools
