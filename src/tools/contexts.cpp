#include "tools/contexts.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/file.hpp"
#include "codec/text.hpp"
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

Error wrong(const std::string& what) {
  return {contexts_path() + ": " + what, "mend the file, or remove it and add contexts anew"};
}

Result<Context> read_context(const std::string& name, const toml::table& table) {
  Context context;
  for (const auto& [key, value] : table) {
    const bool known = std::ranges::find(kKeys, key.str()) != kKeys.end();
    const auto text = value.value_exact<std::string>();
    if (!known || !text) {
      return wrong("'" + std::string(key.str()) + "' of the context '" + name +
                   "' is none of the texts that a context has");
    }
    context[std::string(key.str())] = *text;
  }
  if (!context.contains("to")) return wrong("the context '" + name + "' has no server, 'to'");
  return context;
}

Result<Contexts> contexts_of(const toml::table& file) {
  Contexts contexts;
  for (const auto& [key, value] : file) {
    if (key == "current" && value.is_string()) {
      contexts.current = value.ref<std::string>();
    } else if (key != "contexts" || !value.is_table()) {
      return wrong("'" + std::string(key.str()) +
                   "' is neither the text 'current' nor the table 'contexts'");
    }
  }
  const auto* const all = file["contexts"].as_table();
  if (all == nullptr) return contexts;
  for (const auto& [key, value] : *all) {
    const std::string name(key.str());
    if (!value.is_table()) return wrong("the context '" + name + "' is no table");
    auto context = read_context(name, *value.as_table());
    if (!context) return context.error();
    contexts.by_name[name] = *std::move(context);
  }
  return contexts;
}

/// The text is one line of UTF-8, for which JSON and TOML have the same spelling.
std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

std::string text_of(const Contexts& contexts) {
  std::string text;
  if (!contexts.current.empty()) text += "current = " + quoted(contexts.current) + "\n";
  for (const auto& [name, context] : contexts.by_name) {
    text += "\n[contexts." + quoted(name) + "]\n";
    for (const auto& [key, value] : context) text += key + " = " + quoted(value) + "\n";
  }
  return text;
}

Error cannot_lock(const std::string& path) {
  return {"cannot lock " + path + ": " + std::strerror(errno), "check who may write there"};
}

/// Held until the object is destroyed. Its file stays: whoever waits for the lock has it open.
class ContextsLock {
 public:
  ContextsLock() = default;
  ~ContextsLock() {
    if (file_ >= 0) close(file_);
  }
  ContextsLock(const ContextsLock&) = delete;
  ContextsLock& operator=(const ContextsLock&) = delete;

  /// Waits for the process that has it.
  Result<void> take() {
    const std::string path = contexts_path() + ".lock";
    file_ = open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) return cannot_lock(path);
    while (flock(file_, LOCK_EX) != 0) {
      if (errno != EINTR) return cannot_lock(path);
    }
    return {};
  }

 private:
  int file_ = -1;
};

Result<void> use_context(CLI::App& app, const Contexts& contexts, const std::string& name) {
  const auto found = contexts.by_name.find(name);
  if (found == contexts.by_name.end()) {
    return Error{"there is no context '" + name + "'", "gorgo context list"};
  }
  for (CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() != "context") apply(*command, found->second);
  }
  return {};
}

/// Why the server of the current context is unknown. It is set before the command runs.
std::optional<Error>& unknown_server() {
  static std::optional<Error> why;
  return why;
}

}  // namespace

std::string contexts_path() {
  const std::string configured = variable("XDG_CONFIG_HOME");
  const std::string folder = configured.empty() ? variable("HOME") + "/.config" : configured;
  return folder + "/gorgo/contexts.toml";
}

bool is_one_line(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  return codec::is_valid_utf8(text) && std::ranges::none_of(text, is_control);
}

Result<Contexts> read_contexts() {
  const std::string path = contexts_path();
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) {
    // The home of somebody else has no contexts for this user, such as root's for a service.
    if (failure == std::errc::permission_denied) return Contexts();
    if (failure) return Error{"cannot read " + path + ": " + failure.message(), ""};
    return Contexts();
  }
  const auto text = read_file(path);
  if (!text) return text.error();
  const toml::parse_result parsed = toml::parse(*text, path);
  if (parsed) return contexts_of(parsed.table());
  return wrong("line " + std::to_string(parsed.error().source().begin.line) + ": " +
               std::string(parsed.error().description()));
}

Result<void> change_contexts(const std::function<Result<void>(Contexts&)>& change) {
  const std::filesystem::path folder = std::filesystem::path(contexts_path()).parent_path();
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return Error{"cannot make " + folder.string() + ": " + failure.message(), ""};
  ContextsLock lock;
  if (auto taken = lock.take(); !taken) return taken;
  auto contexts = read_contexts();
  if (!contexts) return contexts.error();
  if (auto changed = change(*contexts); !changed) return changed;
  return write_text_file(contexts_path(), text_of(*contexts));
}

Result<void> apply_context(CLI::App& app, const std::string& name) {
  const auto contexts = read_contexts();
  return contexts ? use_context(app, *contexts, name) : contexts.error();
}

void apply_current_context(CLI::App& app) {
  const auto contexts = read_contexts();
  if (contexts && contexts->current.empty()) return;
  const auto applied = contexts ? use_context(app, *contexts, contexts->current) : contexts.error();
  if (applied) return;
  const Error& why = applied.error();
  unknown_server() =
      Error{"the current context cannot be used: " + why.message,
            (why.hint.empty() ? "" : why.hint + "; ") + "else name a server with --to"};
}

void expect_known_server() {
  if (unknown_server()) throw UnknownServer{*unknown_server()};
}

}  // namespace gorgo::tools
