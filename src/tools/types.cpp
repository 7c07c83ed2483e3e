#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "gorgo/client.hpp"
#include "tools/commands.hpp"
#include "tools/format_option.hpp"
#include "tools/listing.hpp"
#include "tools/login.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"
#include "tools/type_classes.hpp"

namespace gorgo::tools {
namespace {

struct TypesOptions {
  std::string to = "127.0.0.1:7450";
  std::string format = "text";
  bool python = false;
  Login login;
};

int list(const TypesOptions& options) {
  auto client = connect(options.to, "types", options.login);
  if (!client) return fail(client.error());
  const auto types = client->types();
  if (!types) return fail(types.error());
  if (options.python) {
    const auto rules = client->rules();
    if (!rules) return fail(rules.error());
    std::fputs(python_classes(*types, *rules).c_str(), stdout);
    return kSuccess;
  }
  if (options.format == "text") {
    print_table(type_table(*types));
    return kSuccess;
  }
  auto json = nlohmann::ordered_json::array();
  for (const TypeInfo& type : *types) json.push_back(type_json(type));
  print_json(json);
  return kSuccess;
}

}  // namespace

void add_types(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "types",
      "List the types that rules of a server read, and those that come and that no rule reads:\n"
      "how many events have come, how long and how many are kept, how many came late or lacked an\n"
      "attribute that rules name, and their attributes, with what never came or nobody reads");
  const auto options = std::make_shared<TypesOptions>();
  command->add_option("--to", options->to, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  add_login(*command, options->login);
  as_format(command, options->format);
  command
      ->add_flag(
          "--python", options->python,
          "Write dataclasses of the types that rules read or bring about, for the Python client")
      ->excludes("--format")
      ->excludes("--json");
  command->callback([options, &exit_code] { exit_code = list(*options); });
}

}  // namespace gorgo::tools
