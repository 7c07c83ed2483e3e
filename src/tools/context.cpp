#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "protocol/address.hpp"
#include "tools/commands.hpp"
#include "tools/contexts.hpp"
#include "tools/format_option.hpp"
#include "tools/listing.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"

namespace gorgo::tools {
namespace {

struct ContextOptions {
  std::string name;
  std::string format = "text";
  Context values;
  bool tls = false;
  bool only_names = false;
};

/// The context holds in every folder, so the files that it names must be found from there.
Result<void> make_absolute(Context& context) {
  for (const char* key : {"ca", "cert", "key", "token-file", "password-file"}) {
    const auto found = context.find(key);
    if (found == context.end()) continue;
    std::error_code failure;
    const auto path = std::filesystem::absolute(found->second, failure);
    if (failure) return Error{"cannot find " + found->second + ": " + failure.message(), ""};
    found->second = path.lexically_normal().string();
  }
  return {};
}

/// The file of contexts has texts of one line.
Result<void> check_texts(const ContextOptions& options) {
  if (options.name.empty()) return Error{"a context has a name", "name it, such as prod"};
  for (const auto& [key, value] : options.values) {
    if (!is_one_line(value)) {
      return Error{"--" + key + " has a control character or is no UTF-8", "use another name"};
    }
  }
  if (is_one_line(options.name)) return {};
  return Error{"the name has a control character or is no UTF-8", "use another one"};
}

int end(const Result<void>& changed) { return changed ? kSuccess : fail(changed.error()); }

int add(ContextOptions options) {
  if (options.tls) options.values["tls"] = "true";
  std::erase_if(options.values, [](const auto& value) { return value.second.empty(); });
  if (const auto address = protocol::parse_address(options.values["to"]); !address) {
    return misuse(address.error());
  }
  if (const auto whole = make_absolute(options.values); !whole) return fail(whole.error());
  if (const auto fine = check_texts(options); !fine) return misuse(fine.error());
  return end(change_contexts([&](Contexts& contexts) -> Result<void> {
    contexts.by_name[options.name] = options.values;
    if (contexts.by_name.size() == 1) contexts.current = options.name;
    return {};
  }));
}

int list(const ContextOptions& options) {
  const auto contexts = read_contexts();
  if (!contexts) return fail(contexts.error());
  if (options.only_names) {
    for (const auto& [name, context] : contexts->by_name) std::puts(name.c_str());
    return kSuccess;
  }
  auto json = nlohmann::ordered_json::array();
  Table table = {{"", "name", "server", "tls", "user"}};
  for (const auto& [name, context] : contexts->by_name) {
    const auto value = [&context = context](const char* key) {
      const auto found = context.find(key);
      return found == context.end() ? std::string() : found->second;
    };
    const bool current = name == contexts->current;
    table.push_back({current ? "*" : "", name, value("to"), value("tls"), value("user")});
    json.push_back({{"name", name}, {"current", current}, {"options", context}});
  }
  options.format == "json" ? print_json(json) : print_table(table);
  return kSuccess;
}

/// `change` gets the contexts, which have one of that name.
template <class Change>
int change_named(const std::string& name, Change change) {
  return end(change_contexts([&](Contexts& contexts) -> Result<void> {
    if (!contexts.by_name.contains(name)) {
      return Error{"there is no context '" + name + "'", "gorgo context list"};
    }
    change(contexts);
    return {};
  }));
}

int use(const std::string& name) {
  return change_named(name, [&](Contexts& contexts) { contexts.current = name; });
}

int remove(const std::string& name) {
  return change_named(name, [&](Contexts& contexts) {
    contexts.by_name.erase(name);
    if (contexts.current == name) contexts.current.clear();
  });
}

CLI::App* add_named(CLI::App& context, const char* name, const char* description,
                    ContextOptions& options) {
  auto* command = context.add_subcommand(name, description);
  command->add_option("NAME", options.name, "Of the context")->required();
  return command;
}

void add_values(CLI::App& command, ContextOptions& options) {
  command.add_option("--server,--to", options.values["to"], "Its address")
      ->required()
      ->option_text("HOST:PORT");
  command.add_flag("--tls", options.tls, "Encrypt the connection, and know the server");
  for (const auto& [key, what] :
       {std::pair("ca", "Authorities of servers (TLS)"),
        std::pair("cert", "Certificate to show to the server (TLS)"),
        std::pair("key", "Its private key"), std::pair("token-file", "File with a token"),
        std::pair("password-file", "File with the password of --user")}) {
    command.add_option("--" + std::string(key), options.values[key], what)->option_text("FILE");
  }
  command.add_option("--user", options.values["user"], "Who you are")->option_text("NAME");
}

}  // namespace

void add_context(CLI::App& app, int& exit_code) {
  auto* context = app.add_subcommand(
      "context",
      "Remember how to reach servers, so that commands need not be told. The current context\n"
      "holds for all commands; gorgo --context NAME COMMAND takes another one");
  context->require_subcommand(1);
  const auto options = std::make_shared<ContextOptions>();
  auto* adding = add_named(*context, "add", "Add a context, or replace it", *options);
  add_values(*adding, *options);
  adding->callback([options, &exit_code] { exit_code = add(*options); });
  auto* listing = context->add_subcommand("list", "List the contexts; * marks the current one");
  as_format(listing, options->format);
  listing->add_flag("--names", options->only_names, "Only the names, a line each, for shells");
  listing->callback([options, &exit_code] { exit_code = list(*options); });
  add_named(*context, "use", "Make a context the current one", *options)
      ->callback([options, &exit_code] { exit_code = use(options->name); });
  add_named(*context, "remove", "Forget a context", *options)->callback([options, &exit_code] {
    exit_code = remove(options->name);
  });
}

}  // namespace gorgo::tools
