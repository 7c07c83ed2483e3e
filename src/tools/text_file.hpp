#pragma once

#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"

namespace gorgo::tools {

/// The whole file. Errors name it and say why.
Result<std::string> read_text_file(const std::string& path);
/// The same; `-` is standard input.
Result<std::string> read_text(const std::string& path);
/// Replaces the content of the file, or makes it.
Result<void> write_text_file(const std::string& path, std::string_view text);

}  // namespace gorgo::tools
