#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time_text.hpp"
#include "cluster/plan.hpp"
#include "gorgo/client.hpp"
#include "plan/explain.hpp"
#include "tools/cluster_plan.hpp"
#include "tools/color.hpp"
#include "tools/commands.hpp"
#include "tools/explained.hpp"
#include "tools/format_option.hpp"
#include "tools/login.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"
#include "tools/rule_paths.hpp"
#include "tools/rule_sources.hpp"
#include "tools/settings.hpp"

namespace gorgo::tools {
namespace {

using Json = nlohmann::ordered_json;

struct ExplainOptions {
  Login login;
  Settings settings;
  std::vector<std::string> files;  // rule files; with `live`, names of rules
  std::string format = "text";
  bool live = false, cluster = false;
  std::string to = "127.0.0.1:7450";
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
                          {"panes", aggregate.panes},
                          {"scan", to_json(aggregate.scan)}});
  }
  return {{"name", rule.name},           {"line", rule.at.line},
          {"column", rule.at.column},    {"declaration", rule.declaration},
          {"engine", rule.engine},       {"stratum", rule.stratum.value_or(0)},
          {"timer", rule.timer},         {"states", states},
          {"negations", negations},      {"aggregates", aggregates},
          {"filters", rule.filters},     {"where", rule.assignments},
          {"order_by", rule.order},      {"limit", rule.limit ? Json(*rule.limit) : Json()},
          {"at_most", rule.at_most},     {"deadline", rule.deadline},
          {"consuming", rule.consuming}, {"execute", rule.actions},
          {"reach", rule.reach}};
}

Json json_of(const plan::Explanation& explanation) {
  Json rules = Json::array(), types = Json::array();
  for (const auto& rule : explanation.rules) rules.push_back(to_json(rule));
  for (const auto& type : explanation.types) {
    types.push_back({{"declaration", type.declaration}, {"origin", plan::to_string(type.origin)}});
  }
  return {{"rules", rules}, {"types", types}, {"cycles", explanation.cycles}};
}

void print_table_of_costs(const std::vector<EngineCost>& costs) {
  const auto column = [](const std::optional<double>& cost) {
    return cost ? time_text(*cost) : std::string("-");
  };
  std::printf("  %-12s %12s %12s %12s   for each terminator\n", "engine", "estimate", "measured",
              "upkeep");
  for (const EngineCost& cost : costs) {
    std::printf("  %-12s %12s %12s %12s\n", cost.engine.c_str(), column(cost.estimate).c_str(),
                column(cost.measured).c_str(), column(cost.upkeep).c_str());
  }
}

void print_live(const RuleInfo& rule) {
  std::printf("%s: %s, %s, moves: %llu\n", rule.name.c_str(), rule.engine.c_str(),
              rule.automatic ? "where it costs least" : "pinned",
              static_cast<unsigned long long>(rule.moves));
  std::printf("  because: %s\n", rule.placed_because.empty()
                                     ? "it takes too little time to try anything else"
                                     : rule.placed_because.c_str());
  if (!rule.alarm.empty()) std::printf("  alarm: %s\n", rule.alarm.c_str());
  if (!rule.costs.empty()) print_table_of_costs(rule.costs);
  if (!rule.plan.empty()) std::fputs(harmless(rule.plan, stdout).c_str(), stdout);
}

Json costs_json(const RuleInfo& rule) {
  const auto nanoseconds = [](const std::optional<double>& cost) {
    return cost ? Json(*cost) : Json();
  };
  Json costs = Json::array();
  for (const EngineCost& cost : rule.costs) {
    costs.push_back({{"engine", cost.engine},
                     {"estimate_ns", nanoseconds(cost.estimate)},
                     {"measured_ns", nanoseconds(cost.measured)},
                     {"upkeep_ns", nanoseconds(cost.upkeep)}});
  }
  return {{"name", rule.name},
          {"engine", rule.engine},
          {"automatic", rule.automatic},
          {"moves", rule.moves},
          {"because", rule.placed_because},
          {"alarm", rule.alarm},
          {"costs", costs},
          {"plan", rule.plan}};
}

void print_live(const std::vector<RuleInfo>& rules, const std::string& format) {
  if (format == "text") {
    for (const RuleInfo& rule : rules) print_live(rule);
    return;
  }
  Json all = Json::array();
  for (const RuleInfo& rule : rules) all.push_back(costs_json(rule));
  print_json({{"rules", all}});
}

/// Prints where the rules would run in a cluster.
int explain_cluster(const RuleSources& sources, const std::string& format) {
  const auto plan = cluster::plan_cluster(sources.plans(), sources.schema());
  if (format == "json") {
    print_json(cluster_json(plan));
  } else {
    std::fputs(harmless(cluster_text(plan), stdout).c_str(), stdout);
  }
  return kSuccess;
}

/// Prints what the rules of a server cost, and where.
int explain_live(const ExplainOptions& options) {
  auto client = connect(options.to, "explain", options.login);
  if (!client) return fail(client.error());
  std::vector<RuleInfo> rules;
  if (options.files.empty()) {
    auto all = client->rules();
    if (!all) return fail(all.error());
    rules = std::move(*all);
  }
  for (const std::string& name : options.files) {
    auto rule = client->rule(name);
    if (!rule) return fail(rule.error());
    rules.push_back(std::move(*rule));
  }
  print_live(rules, options.format);
  return kSuccess;
}

int explain(ExplainOptions& options) {
  if (options.live) return explain_live(options);
  RuleSources sources;
  bool failed = false;
  const auto files = rule_files(options.files);
  if (!files) return fail(files.error());
  for (const auto& path : *files) {
    auto source = read_source(path);
    if (!source) {
      fail(source.error());
      failed = true;
      continue;
    }
    options.settings.apply(*source);
    const Diagnostics diagnostics = sources.add(*source);
    print_diagnostics(diagnostics);
    failed = failed || diagnostics.failed();
  }
  if (const auto used = options.settings.check_used(); !used) return fail(used.error());
  if (failed) return kFailure;
  if (options.cluster) return explain_cluster(sources, options.format);

  const auto explanation = explained(sources);
  if (options.format == "json") {
    print_json(json_of(explanation));
  } else {
    std::fputs(harmless(plan::to_text(explanation), stdout).c_str(), stdout);
  }
  return kSuccess;
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "explain",
      "Show how rules are evaluated: columns, conditions, windows, strata, types, and warnings");
  const auto options = std::make_shared<ExplainOptions>();
  auto* files = command->add_option("FILE", options->files,
                                    "Rule files, or folders of them, in the order of deployment, - "
                                    "is stdin; with --live, full names of rules");
  auto* live = command->add_flag("--live", options->live,
                                 "Of the rules of a server, all without names: what they cost on "
                                 "each engine, estimated and measured, and why they run where");
  command
      ->add_flag("--cluster", options->cluster,
                 "Where the rules would run in a cluster, why some are not divided by a key, and "
                 "how often each event is sent (docs/cluster.md)")
      ->excludes(live);
  command->add_option("--to", options->to, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450")
      ->needs(live);
  options->settings.add_option(command);
  as_format(command, options->format);
  add_login(*command, options->login);
  command->callback([options, files, &exit_code] {
    if (!options->live && files->empty()) throw CLI::RequiredError("FILE");
    exit_code = explain(*options);
  });
}

}  // namespace gorgo::tools
