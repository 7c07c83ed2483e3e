#pragma once

#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"

namespace gorgo::tools {

/// The whole file, which may be a pipe; `-` is standard input. Errors name it and say why.
Result<std::string> read_text(const std::string& path);
/// Replaces the content of the file, or makes it. Others who read it see all of the text before or
/// all of this one, also when the disk is full or the machine crashes. A link stays a link, and the
/// file keeps its permissions. What is no regular file, such as a pipe, is written into.
Result<void> write_text_file(const std::string& path, std::string_view text);

}  // namespace gorgo::tools
