#pragma once

#include <string>

namespace CLI {
class App;
}

namespace gorgo::tools {

/// Gives a command the option `--format text|json`, of what it prints on standard output. `--json`
/// is short for one of its values. `format` outlives the command.
void as_format(CLI::App* command, std::string& format);

}  // namespace gorgo::tools
