#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "engine/engine.hpp"
#include "gorgo/client.hpp"
#include "gorgo/processor.hpp"
#include "tools/commands.hpp"
#include "tools/device_text.hpp"

namespace gorgo::tools {
namespace {

int list_devices(const std::string& server) {
  auto client = Client::connect(server, {.name = "gorgo engines"});
  const auto devices = client ? client->devices() : client.error();
  if (!devices) {
    std::fprintf(stderr, "gorgo: %s\n", devices.error().to_string().c_str());
    return kFailure;
  }
  for (const DeviceInfo& device : *devices) std::puts(text_of(device).c_str());
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
  const auto server = std::make_shared<std::string>();
  command
      ->add_option("--to", *server,
                   "Instead, the devices that the rules of this server use, and what they did")
      ->option_text("HOST:PORT");
  command->callback([server, &exit_code] {
    exit_code = server->empty() ? list_engines() : list_devices(*server);
  });
}

}  // namespace gorgo::tools
