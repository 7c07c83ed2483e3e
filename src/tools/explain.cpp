#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plan/explain.hpp"
#include "tools/commands.hpp"
#include "tools/explained.hpp"
#include "tools/rule_sources.hpp"

namespace gorgo::tools {
namespace {

using Json = nlohmann::ordered_json;

struct ExplainOptions {
  std::vector<std::string> files;
  std::string format = "text";
};

Json to_json(const plan::ScanExplanation& scan) {
  return {{"column", scan.column}, {"shared_with", scan.shared_with}, {"shared_by", scan.shared_by},
          {"binds", scan.binds},   {"constant", scan.constant},       {"equality", scan.equality},
          {"range", scan.range},   {"residual", scan.residual},       {"guards", scan.guards}};
}

Json to_json(const plan::RuleExplanation& rule) {
  Json states = Json::array(), negations = Json::array(), aggregates = Json::array();
  for (const auto& state : rule.states) {
    states.push_back({{"name", state.name},
                      {"selection", state.selection},
                      {"window", state.window},
                      {"scan", to_json(state.scan)}});
  }
  for (const auto& negation : rule.negations) {
    const auto& at = negation.completed_at;
    negations.push_back({{"type", negation.type},
                         {"span", negation.span},
                         {"completed_at", at ? Json(*at) : Json()},
                         {"scan", to_json(negation.scan)}});
  }
  for (const auto& aggregate : rule.aggregates) {
    aggregates.push_back({{"name", aggregate.name},
                          {"call", aggregate.call},
                          {"type", aggregate.type},
                          {"required", aggregate.required},
                          {"scan", to_json(aggregate.scan)}});
  }
  return {{"name", rule.name},         {"line", rule.at.line},
          {"column", rule.at.column},  {"declaration", rule.declaration},
          {"engine", rule.engine},     {"stratum", rule.stratum},
          {"timer", rule.timer},       {"states", states},
          {"negations", negations},    {"aggregates", aggregates},
          {"filters", rule.filters},   {"where", rule.assignments},
          {"deadline", rule.deadline}, {"consuming", rule.consuming},
          {"reach", rule.reach}};
}

std::string to_json_text(const plan::Explanation& explanation) {
  Json rules = Json::array(), types = Json::array();
  for (const auto& rule : explanation.rules) rules.push_back(to_json(rule));
  for (const auto& type : explanation.types) {
    types.push_back({{"declaration", type.declaration}, {"origin", plan::to_string(type.origin)}});
  }
  const Json all = {{"rules", rules}, {"types", types}, {"cycles", explanation.cycles}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int explain(const ExplainOptions& options) {
  RuleSources sources;
  bool failed = false;
  for (const auto& path : options.files) {
    const auto diagnostics = sources.add(path);
    if (!diagnostics) {
      std::fprintf(stderr, "gorgo: %s\n", diagnostics.error().to_string().c_str());
    } else {
      std::fputs(diagnostics->render().c_str(), stderr);
    }
    failed = failed || !diagnostics || diagnostics->failed();
  }
  if (failed) return kFailure;

  const auto explanation = explained(sources);
  const bool json = options.format == "json";
  std::fputs((json ? to_json_text(explanation) : plan::to_text(explanation)).c_str(), stdout);
  return kSuccess;
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "explain",
      "Show how rules are evaluated: columns, conditions, windows, strata, types, and warnings");
  const auto options = std::make_shared<ExplainOptions>();
  command->add_option("FILE", options->files, "Rule files in the order of deployment; - is stdin")
      ->required();
  command->add_option("--format", options->format, "Of what is printed on standard output")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([options, &exit_code] { exit_code = explain(*options); });
}

}  // namespace gorgo::tools
