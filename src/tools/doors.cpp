#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "gorgo/client.hpp"
#include "protocol/info_json.hpp"
#include "tools/commands.hpp"
#include "tools/format_option.hpp"
#include "tools/listing.hpp"
#include "tools/login.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"

namespace gorgo::tools {
namespace {

using protocol::to_json;

struct DoorsOptions {
  std::string to = "127.0.0.1:7450";
  std::string format = "text";
  std::string name;
  std::string file;
  Login login;
};

void print_list(const std::vector<Door>& doors) {
  Table rows = {{"NAME", "KIND", "DIRECTION", "STATE", "EVENTS", "REFUSED", "DEAD", "LOST",
                 "FAILURES", "TARGET"}};
  for (const Door& door : doors) {
    rows.push_back({door.name, door.kind, door.direction, door.state, std::to_string(door.events),
                    std::to_string(door.refused), std::to_string(door.dead_letters),
                    std::to_string(door.lost), std::to_string(door.failures), door.target});
  }
  print_table(rows);
}

void print_door(const Door& door) {
  const auto json = to_json(door);
  for (const auto& [key, value] : json.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (!text.empty()) std::printf("%-13s %s\n", (key + ":").c_str(), text.c_str());
  }
}

Result<std::vector<Door>> ask(const DoorsOptions& options) {
  auto client = connect(options.to, "doors", options.login);
  if (!client) return client.error();
  return client->doors();
}

int list(const DoorsOptions& options) {
  const auto doors = ask(options);
  if (!doors) return fail(doors.error());
  if (options.format == "text") {
    print_list(*doors);
    return kSuccess;
  }
  auto json = nlohmann::ordered_json::array();
  for (const Door& door : *doors) json.push_back(to_json(door));
  print_json(json);
  return kSuccess;
}

int show(const DoorsOptions& options) {
  const auto doors = ask(options);
  if (!doors) return fail(doors.error());
  const auto door = std::ranges::find(*doors, options.name, &Door::name);
  if (door == doors->end()) {
    return fail({"the server has no door '" + options.name + "'", "gorgo doors lists them"});
  }
  if (options.format == "text") {
    print_door(*door);
  } else {
    print_json(to_json(*door));
  }
  return kSuccess;
}

int add(const DoorsOptions& options) {
  const auto text = read_file(options.file);
  if (!text) return fail(text.error());
  auto client = connect(options.to, "doors", options.login);
  if (!client) return fail(client.error());
  const auto declared = client->declare_door(options.name, *text);
  if (!declared) return fail(declared.error());
  for (const Diagnostic& warning : declared->list) {
    std::fprintf(stderr, "warning: %s; %s\n", warning.message.c_str(), warning.hint.c_str());
  }
  return kSuccess;
}

int remove(const DoorsOptions& options) {
  auto client = connect(options.to, "doors", options.login);
  if (!client) return fail(client.error());
  const auto removed = client->remove_door(options.name);
  return removed ? kSuccess : fail(removed.error());
}

}  // namespace

void add_doors(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "doors",
      "List the doors of a server, by which it takes events from files and brokers and brings\n"
      "others there: whether they work and how much went through; or show, add or remove one");
  const auto options = std::make_shared<DoorsOptions>();
  command->add_option("--to", options->to, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  add_login(*command, options->login);
  as_format(command, options->format);
  command->add_subcommand("list", "List them, as without a command")->fallthrough();
  std::vector<std::pair<CLI::App*, int (*)(const DoorsOptions&)>> runs;
  const auto on_one = [&](const char* name, const char* about, int (*run)(const DoorsOptions&)) {
    auto* one = command->add_subcommand(name, about)->fallthrough();
    one->add_option("NAME", options->name, "Its name")->required();
    runs.emplace_back(one, run);
    return one;
  };
  on_one("show", "One of them, with its position and its problem", show);
  on_one(
      "add",
      "Open one, or open one anew that was added with other keys: it lasts until it is removed,\n"
      "also when the server restarts with its journal",
      add)
      ->add_option("FILE", options->file,
                   "Its keys: what would stand below [doors.NAME] in the configuration")
      ->required();
  on_one("remove", "Close one that was added, and forget how far it has come", remove);
  command->require_subcommand(0, 1);
  command->callback([options, runs, &exit_code] {
    for (const auto& [one, run] : runs) {
      if (one->parsed()) exit_code = run(*options);
      if (one->parsed()) return;
    }
    exit_code = list(*options);
  });
}

}  // namespace gorgo::tools
