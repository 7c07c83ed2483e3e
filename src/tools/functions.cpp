#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "functions/catalogue.hpp"
#include "language/aggregate_names.hpp"
#include "tools/aggregate_usage.hpp"
#include "tools/commands.hpp"
#include "tools/format_option.hpp"
#include "tools/print_json.hpp"

namespace gorgo::tools {
namespace {

/// How an aggregate is called, and what it gives.
struct AggregateLine {
  std::string name, usage, says;
};

std::vector<AggregateLine> aggregates() {
  std::vector<AggregateLine> lines;
  for (const std::string& name : language::aggregate_names()) {
    const AggregateFunction function = *language::aggregate_function(name);
    lines.push_back({name, usage_of(function), std::string(language::meaning(function))});
  }
  return lines;
}

void list_functions() {
  std::puts("Functions of values:\n");
  for (const functions::Signature& signature : functions::catalogue()) {
    std::printf("%s\n    %s\n", std::string(signature.usage).c_str(),
                std::string(signature.says).c_str());
  }
  std::puts("\nAggregates over the events of a window:\n");
  for (const AggregateLine& line : aggregates()) {
    std::printf("%s\n    %s\n", line.usage.c_str(), line.says.c_str());
  }
}

void list_functions_as_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const functions::Signature& signature : functions::catalogue()) {
    list.push_back(
        {{"name", signature.name}, {"usage", signature.usage}, {"says", signature.says}});
  }
  nlohmann::ordered_json totals = nlohmann::ordered_json::array();
  for (const AggregateLine& line : aggregates()) {
    totals.push_back({{"name", line.name}, {"usage", line.usage}, {"says", line.says}});
  }
  print_json({{"functions", list}, {"aggregates", totals}});
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
