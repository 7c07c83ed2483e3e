#pragma once

#include <optional>
#include <span>
#include <string>

namespace CLI {
class App;
}

namespace gorgo::tools {

/// Says which of the words behind the program's name is no command and no option, and which one it
/// may stand for. The parser of the command line would only name what it misses in its place.
std::optional<std::string> unknown_word(const CLI::App& app, std::span<char* const> words);

}  // namespace gorgo::tools
