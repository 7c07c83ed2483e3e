#include "tools/contexts.hpp"

#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "base/file.hpp"
#include "tools/text_file.hpp"

namespace gorgo::tools {
namespace {

constexpr std::array<std::string_view, 8> kKeys = {"to",  "tls",        "ca",   "cert",
                                                   "key", "token-file", "user", "password-file"};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Whether the option stands for what a context may say: `--to` of a command that asks a server
/// also when it is not given.
bool takes(const CLI::Option& option, const std::string& key) {
  const std::string text = option.get_option_text();
  return key != "to" || text.ends_with("=127.0.0.1:7450") || text == kServerOfContext;
}

/// Has the options of the command and of all commands below it begin with the context's values.
void apply(CLI::App& command, const Context& context) {
  for (const auto& [key, value] : context) {
    CLI::Option* const option = command.get_option_no_throw("--" + key);
    if (option != nullptr && takes(*option, key)) option->default_val(value);
  }
  for (CLI::App* below : command.get_subcommands({})) apply(*below, context);
}

Result<Context> read_context(const toml::table& table, const std::string& path) {
  Context context;
  for (const auto& [key, value] : table) {
    const bool known = std::ranges::find(kKeys, key.str()) != kKeys.end();
    const auto text = value.value<std::string>();
    if (!known || !text) {
      return Error{path + ": '" + std::string(key.str()) + "' is no text of a context",
                   "gorgo context add --help says what it has"};
    }
    context[std::string(key.str())] = *text;
  }
  return context;
}

}  // namespace

std::string contexts_path() {
  const std::string configured = variable("XDG_CONFIG_HOME");
  const std::string folder = configured.empty() ? variable("HOME") + "/.config" : configured;
  return folder + "/gorgo/contexts.toml";
}

Result<Contexts> read_contexts() {
  const std::string path = contexts_path();
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) return Contexts();
  const auto text = read_file(path);
  if (!text) return text.error();
  const toml::parse_result parsed = toml::parse(*text, path);
  if (!parsed) {
    return Error{path + ":" + std::to_string(parsed.error().source().begin.line) + ": " +
                     std::string(parsed.error().description()),
                 "it must be a TOML file"};
  }
  const toml::table& file = parsed.table();
  Contexts contexts;
  contexts.current = file["current"].value_or(std::string());
  const auto* const all = file["contexts"].as_table();
  if (all == nullptr) return contexts;
  for (const auto& [name, value] : *all) {
    if (!value.is_table()) return Error{path + ": a context is a table", ""};
    auto context = read_context(*value.as_table(), path);
    if (!context) return context.error();
    contexts.by_name[std::string(name.str())] = *std::move(context);
  }
  return contexts;
}

Result<void> write_contexts(const Contexts& contexts) {
  toml::table all;
  for (const auto& [name, context] : contexts.by_name) {
    toml::table table;
    for (const auto& [key, value] : context) table.insert(key, value);
    all.insert(name, std::move(table));
  }
  toml::table file;
  if (!contexts.current.empty()) file.insert("current", contexts.current);
  file.insert("contexts", std::move(all));
  std::ostringstream text;
  text << file << "\n";
  const std::filesystem::path path = contexts_path();
  std::error_code failure;
  std::filesystem::create_directories(path.parent_path(), failure);
  if (failure)
    return Error{"cannot make " + path.parent_path().string() + ": " + failure.message(), ""};
  return write_text_file(path, text.str());
}

Result<void> apply_context(CLI::App& app, const std::string& chosen) {
  const auto contexts = read_contexts();
  if (!contexts) return contexts.error();
  const std::string name = chosen.empty() ? contexts->current : chosen;
  if (name.empty()) return {};
  const auto found = contexts->by_name.find(name);
  if (found == contexts->by_name.end()) {
    return Error{"there is no context '" + name + "'", "gorgo context list"};
  }
  for (CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() != "context") apply(*command, found->second);
  }
  return {};
}

}  // namespace gorgo::tools
