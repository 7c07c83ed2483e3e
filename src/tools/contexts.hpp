#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

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
/// Writes what `change` makes of the contexts; other processes do so before or after it. Nothing is
/// written where `change` returns an error.
Result<void> change_contexts(const std::function<Result<void>(Contexts&)>& change);
/// Whether a name or a value of a context can stand in the file and in a line of a list.
bool is_one_line(std::string_view text);

/// Has the options of all commands, at whatever depth, begin with what the context `name` says.
/// What is given on the command line overrides it.
Result<void> apply_context(CLI::App& app, const std::string& name);
/// Applies the current context in that way, if there is one. Where that cannot be known, only
/// commands that ask a server fail, in `expect_known_server`.
void apply_current_context(CLI::App& app);

/// The current context does not say which server is meant.
struct UnknownServer {
  Error why;
};
/// Throws UnknownServer, which main.cpp tells, where the server was to be that of the current
/// context and that cannot be known: a command must not ask another server then.
void expect_known_server();

}  // namespace gorgo::tools
