#pragma once

#include <map>
#include <string>

#include "gorgo/diagnostics.hpp"

namespace CLI {
class App;
}

namespace gorgo::tools {

/// How to reach a server: the values of options such as "to" and "token-file", by their names
/// without hyphens in front. Secrets stand in files that it names.
using Context = std::map<std::string, std::string>;

/// The text of an option `--to` that has no default but the server of the context.
inline constexpr const char* kServerOfContext = "HOST:PORT=that of the context";

struct Contexts {
  std::map<std::string, Context> by_name;
  std::string current;  ///< empty: none
};

/// `$XDG_CONFIG_HOME/gorgo/contexts.toml`, else `~/.config/gorgo/contexts.toml`.
std::string contexts_path();
/// No contexts where there is no file.
Result<Contexts> read_contexts();
Result<void> write_contexts(const Contexts& contexts);

/// Has the options of all commands, at whatever depth, begin with what the context `chosen` says;
/// empty: the current one, if any. What is given on the command line overrides it.
Result<void> apply_context(CLI::App& app, const std::string& chosen);

}  // namespace gorgo::tools
