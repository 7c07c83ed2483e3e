#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

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

}  // namespace

void add_doors(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "doors",
      "List the doors of a server, by which it takes events from files and brokers and brings\n"
      "others there: whether they work and how much went through; or show one");
  const auto options = std::make_shared<DoorsOptions>();
  command->add_option("--to", options->to, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  add_login(*command, options->login);
  as_format(command, options->format);
  command->add_subcommand("list", "List them, as without a command")->fallthrough();
  auto* one = command->add_subcommand("show", "One of them, with its position and its problem")
                  ->fallthrough();
  one->add_option("NAME", options->name, "Its name in the configuration")->required();
  command->require_subcommand(0, 1);
  command->callback(
      [options, one, &exit_code] { exit_code = one->parsed() ? show(*options) : list(*options); });
}

}  // namespace gorgo::tools
