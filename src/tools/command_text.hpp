#pragma once

#include <string>

namespace CLI {
class App;
}

/// What other programs know of the commands: made from the same descriptions as `--help`.
namespace gorgo::tools {

/// What a description says first, without what follows it.
std::string first_sentence(const std::string& text);

/// A script that completes command lines in "bash", "zsh" or "fish".
std::string completion_script(const CLI::App& app, const std::string& shell);

/// A manual page in the language of `man`: of `app`, the program, or of one of its commands.
std::string manual_page(const CLI::App& app, const std::string& version);

}  // namespace gorgo::tools
