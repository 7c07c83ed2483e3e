#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "functions/catalogue.hpp"
#include "tools/commands.hpp"
#include "tools/format_option.hpp"
#include "tools/print_json.hpp"

namespace gorgo::tools {
namespace {

void list_functions() {
  for (const functions::Signature& signature : functions::catalogue()) {
    std::printf("%s\n    %s\n", std::string(signature.usage).c_str(),
                std::string(signature.says).c_str());
  }
}

void list_functions_as_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const functions::Signature& signature : functions::catalogue()) {
    list.push_back(
        {{"name", signature.name}, {"usage", signature.usage}, {"says", signature.says}});
  }
  print_json({{"functions", list}});
}

}  // namespace

void add_functions(CLI::App& app, int& exit_code) {
  auto format = std::make_shared<std::string>("text");
  CLI::App* command = app.add_subcommand("functions", "List the functions of expressions");
  as_format(command, *format);
  command->callback([format, &exit_code] {
    *format == "json" ? list_functions_as_json() : list_functions();
    exit_code = kSuccess;
  });
}

}  // namespace gorgo::tools
