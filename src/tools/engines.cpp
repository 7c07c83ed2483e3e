#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/engine.hpp"
#include "gorgo/client.hpp"
#include "gorgo/processor.hpp"
#include "tools/commands.hpp"
#include "tools/device_text.hpp"
#include "tools/format_option.hpp"
#include "tools/login.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"

namespace gorgo::tools {
namespace {

using Json = nlohmann::ordered_json;

struct EnginesOptions {
  Login login;
  std::string server;
  std::string format = "text";
};

Json to_json(const DeviceInfo& device) {
  Json counters = Json::object();
  for (const DeviceInfo::Counter& counter : device.counters) counters[counter.name] = counter.value;
  return {{"engine", device.engine},   {"number", device.number},
          {"problem", device.problem}, {"failures", device.failures},
          {"failure", device.failure}, {"failed_on", device.failed_on},
          {"counters", counters}};
}

int list_devices(const EnginesOptions& options) {
  auto client = connect(options.server, "engines", options.login);
  const auto devices = client ? client->devices() : client.error();
  if (!devices) return fail(devices.error());
  if (options.format == "json") {
    Json list = Json::array();
    for (const DeviceInfo& device : *devices) list.push_back(to_json(device));
    print_json({{"devices", list}});
    return kSuccess;
  }
  if (devices->empty()) std::puts("the server uses no devices: all rules run on its processors");
  for (const DeviceInfo& device : *devices) std::puts(text_of(device).c_str());
  return kSuccess;
}

int list_engines_as_json() {
  Json list = Json::array();
  for (const auto* engine : engine::engines()) {
    list.push_back({{"name", engine->name()}, {"description", engine->description()}});
  }
  print_json({{"default", kAutomatic}, {"engines", list}});
  return kSuccess;
}

int list_engines() {
  constexpr int kName = 14;
  std::printf("%-*s%s\n", kName, std::string(kAutomatic).c_str(),
              "each rule where it costs least, by what it is measured to cost");
  for (const auto* engine : engine::engines()) {
    std::string name(engine->name());
    for (const auto& line : engine->description()) {
      std::printf("%-*s%s\n", kName, name.c_str(), line.c_str());
      name.clear();
    }
  }
  return kSuccess;
}

}  // namespace

void add_engines(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "engines", "List the engines, the default first, and what they find on this machine");
  const auto options = std::make_shared<EnginesOptions>();
  command
      ->add_option("--to", options->server,
                   "Instead, the devices that the rules of this server use, and what they did")
      ->option_text("HOST:PORT");
  as_format(command, options->format);
  add_login(*command, options->login);
  command->callback([options, &exit_code] {
    if (!options->server.empty()) {
      exit_code = list_devices(*options);
    } else {
      exit_code = options->format == "json" ? list_engines_as_json() : list_engines();
    }
  });
}

}  // namespace gorgo::tools
