#include <CLI/CLI.hpp>
#include <cstdio>

#include "engine/engine.hpp"
#include "tools/commands.hpp"

namespace gorgo::tools {
namespace {

int list_engines() {
  constexpr int kName = 14;
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
  command->callback([&exit_code] { exit_code = list_engines(); });
}

}  // namespace gorgo::tools
