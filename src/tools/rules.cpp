#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/time_text.hpp"
#include "gorgo/client.hpp"
#include "tools/color.hpp"
#include "tools/commands.hpp"
#include "tools/format_option.hpp"
#include "tools/listing.hpp"
#include "tools/login.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"
#include "tools/rule_paths.hpp"
#include "tools/rule_versions.hpp"
#include "tools/settings.hpp"
#include "tools/shadow.hpp"

namespace gorgo::tools {
namespace {

struct RulesOptions {
  Login login;
  std::string to = "127.0.0.1:7450";
  std::string format = "text";
  std::vector<std::string> arguments;  // files or rule names
  DeployOptions deploy;
  Settings settings;
  bool memory = false;
  bool shadow = false;
  bool deployment = false;
  std::string name;  // of a deployment
  std::string file;  // that is compared with it
  std::uint64_t from = 0, to_change = 0;
};

nlohmann::ordered_json to_json(const EngineCost& cost) {
  nlohmann::ordered_json json = {{"engine", cost.engine}};
  if (cost.estimate) json["estimate_ns"] = *cost.estimate;
  if (cost.measured) json["measured_ns"] = *cost.measured;
  if (cost.upkeep) json["upkeep_ns"] = *cost.upkeep;
  return json;
}

/// What a terminator costs where the rule runs, then on the other engines that were measured: "1.20
/// us, cuda 310 ns". Where two engines share the terminators, all are named.
std::string costs_text(const RuleInfo& rule) {
  std::string own, others;
  for (const EngineCost& cost : rule.costs) {
    if (!cost.measured) continue;
    if (cost.engine == rule.engine) {
      own = time_text(*cost.measured);
    } else {
      others += ", " + cost.engine + " " + time_text(*cost.measured);
    }
  }
  if (own.empty() && !others.empty()) return others.substr(2);
  return own + others;
}

/// Three digits and no space: 950, 12.3k, 1.25M.
std::string short_text(double number) {
  const char* unit = "";
  for (const char* larger : {"k", "M", "G", "T"}) {
    if (number < 999.5) break;
    number /= 1000;
    unit = larger;
  }
  const int decimals = number == 0 || number >= 99.95 ? 0 : number < 9.995 ? 2 : 1;
  char text[40];
  std::snprintf(text, sizeof text, "%.*f%s", decimals, number, unit);
  return text;
}

nlohmann::ordered_json to_json(const RuleInfo& rule, bool memory) {
  nlohmann::ordered_json json = {{"name", rule.name},
                                 {"type", rule.type},
                                 {"reads", rule.reads},
                                 {"engine", rule.engine},
                                 {"evaluated", rule.terminators},
                                 {"produced", rule.composites},
                                 {"overflows", rule.overflows},
                                 {"skipped", rule.skipped},
                                 {"declined", rule.declined},
                                 {"automatic", rule.automatic},
                                 {"moves", rule.moves},
                                 {"suspended", rule.suspended},
                                 {"passed_over", rule.passed_over}};
  if (rule.rates) {
    json["rates"] = {{"seconds", rule.rates->seconds},
                     {"events", rule.rates->events},
                     {"terminators", rule.rates->terminators},
                     {"composites", rule.rates->composites}};
  }
  if (rule.latency) {
    json["latency"] = {{"mean_ms", rule.latency->mean * 1e3},
                       {"longest_ms", rule.latency->longest * 1e3}};
  }
  if (!rule.placed_because.empty()) json["placed_because"] = rule.placed_because;
  for (const EngineCost& cost : rule.costs) json["costs"].push_back(to_json(cost));
  if (!rule.alarm.empty()) json["alarm"] = rule.alarm;
  if (rule.declined > 0) json["declined_because"] = rule.declined_because;
  json["bytes"] = rule.bytes;
  if (memory) json["pending"] = rule.pending;
  if (!rule.text.empty()) json["text"] = rule.text;
  return json;
}

std::string state_of(const RuleInfo& rule) {
  if (!rule.alarm.empty()) return "engines disagree";
  if (rule.suspended) return "suspended";
  if (rule.passed_over > 0) return std::to_string(rule.passed_over) + " passed over";
  const std::string state = rule.automatic ? "auto" : "pinned";
  if (rule.moves == 0) return state;
  return state + ", " + std::to_string(rule.moves) + (rule.moves == 1 ? " move" : " moves");
}

/// A server of an earlier version tells no rates.
std::vector<std::string> rates_of(const RuleInfo& rule) {
  if (!rule.rates) return {"-", "-", "-"};
  return {short_text(rule.rates->events), short_text(rule.rates->terminators),
          short_text(rule.rates->composites)};
}

/// Scripts find the numbers by their positions; what may hold spaces stands at the end.
Table table_of(const std::vector<RuleInfo>& rules, bool memory) {
  Table rows = {{"NAME", "TYPE", "ENGINE", "EVALUATED", "PRODUCED", "OVERFLOWS", "DECLINED"}};
  if (memory) rows[0].insert(rows[0].end(), {"BYTES", "PENDING"});
  rows[0].insert(rows[0].end(), {"EV/S", "TERM/S", "COMP/S"});
  if (!memory) rows[0].emplace_back("BYTES");
  rows[0].insert(rows[0].end(), {"EACH TAKES", "STATE"});
  for (const RuleInfo& rule : rules) {
    auto& row = rows.emplace_back(
        std::vector<std::string>{rule.name, rule.type, rule.engine,
                                 std::to_string(rule.terminators), std::to_string(rule.composites),
                                 std::to_string(rule.overflows), std::to_string(rule.declined)});
    if (memory) row.insert(row.end(), {std::to_string(rule.bytes), std::to_string(rule.pending)});
    const auto rates = rates_of(rule);
    row.insert(row.end(), rates.begin(), rates.end());
    if (!memory) row.push_back(short_text(static_cast<double>(rule.bytes)));
    row.insert(row.end(), {costs_text(rule), state_of(rule)});
  }
  return rows;
}

nlohmann::ordered_json json_of(const std::vector<RuleInfo>& rules, bool memory) {
  auto json = nlohmann::ordered_json::array();
  for (const RuleInfo& rule : rules) json.push_back(to_json(rule, memory));
  return json;
}

int list_memory(Client& client, const std::vector<RuleInfo>& rules, bool as_json) {
  const auto types = client.types();
  if (!types) return fail(types.error());
  if (as_json) {
    auto list = nlohmann::ordered_json::array();
    for (const TypeInfo& type : *types) list.push_back(type_json(type));
    const nlohmann::ordered_json json = {{"rules", json_of(rules, true)}, {"types", list}};
    print_json(json);
  } else {
    print_table(table_of(rules, true));
    std::puts("");
    print_table(type_table(*types));
  }
  return kSuccess;
}

int list(Client& client, const RulesOptions& options) {
  const auto rules = client.rules();
  if (!rules) return fail(rules.error());
  const bool as_json = options.format == "json";
  if (options.memory) return list_memory(client, *rules, as_json);
  if (as_json) {
    print_json(json_of(*rules, false));
  } else {
    print_table(table_of(*rules, false));
    for (const RuleInfo& rule : *rules) {
      if (rule.declined == 0) continue;
      std::printf("\n%s: %s left %llu terminators to column-scan: %s\n", rule.name.c_str(),
                  rule.engine.c_str(), static_cast<unsigned long long>(rule.declined),
                  rule.declined_because.c_str());
    }
  }
  return kSuccess;
}

int show(Client& client, const RulesOptions& options) {
  const auto rule = client.rule(options.arguments.front());
  if (!rule) return fail(rule.error());
  if (options.format == "json") {
    print_json(to_json(*rule, true));
  } else {
    std::puts(harmless(rule->text, stdout).c_str());
  }
  return kSuccess;
}

int deploy(Client& client, const RulesOptions& options) {
  Settings settings = options.settings;
  std::vector<language::Source> sources;
  const auto files = rule_files(options.arguments);
  if (!files) return fail(files.error());
  for (const std::string& file : *files) {
    auto text = read_file(file);
    if (!text) return fail(text.error());
    settings.apply(sources.emplace_back(language::Source{file, std::move(*text)}));
  }
  if (const auto used = settings.check_used(); !used) return fail(used.error());
  for (const auto& [file, text] : sources) {
    const auto diagnostics = options.shadow ? client.deploy_shadow(file, text)
                                            : client.deploy(file, text, options.deploy);
    if (!diagnostics) return fail(diagnostics.error());
    print_diagnostics(*diagnostics, options.format);
    if (diagnostics->failed()) return kFailure;
    std::fprintf(stderr, options.shadow ? "%s runs as a shadow\n" : "deployed %s\n", file.c_str());
  }
  return kSuccess;
}

int remove(Client& client, const RulesOptions& options) {
  for (const std::string& rule : options.arguments) {
    auto removed = options.deployment ? client.remove_deployment(rule) : client.remove(rule);
    if (!removed) return fail(removed.error());
    std::fprintf(stderr, "removed %s\n", rule.c_str());
  }
  return kSuccess;
}

int pin(Client& client, const RulesOptions& options) {
  const std::string& rule = options.arguments[0];
  const std::string& engine = options.arguments[1];
  if (auto pinned = client.pin(rule, engine); !pinned) return fail(pinned.error());
  std::fprintf(stderr, engine == kAutomatic ? "%s runs where it costs least\n" : "%s runs on %s\n",
               rule.c_str(), engine.c_str());
  return kSuccess;
}

int history(Client& client, const RulesOptions& options) {
  return print_history(client, options.name, options.format == "json");
}

int difference(Client& client, const RulesOptions& options) {
  return print_difference(client, {.name = options.name,
                                   .from = options.from,
                                   .to = options.to_change,
                                   .file = options.file,
                                   .as_json = options.format == "json"});
}

int rollback(Client& client, const RulesOptions& options) {
  return roll_back(client, options.name, options.from);
}

int shadows(Client& client, const RulesOptions& options) {
  return list_shadows(client, options.format == "json");
}

int shadow(Client& client, const RulesOptions& options) {
  return show_shadow(client, options.name, options.format == "json");
}

int promote(Client& client, const RulesOptions& options) {
  const auto diagnostics = client.promote_shadow(options.name, options.deploy.with_history);
  if (!diagnostics) return fail(diagnostics.error());
  print_diagnostics(*diagnostics, options.format);
  if (diagnostics->failed()) return kFailure;
  std::fprintf(stderr, "%s is in force\n", options.name.c_str());
  return kSuccess;
}

int drop(Client& client, const RulesOptions& options) {
  if (auto dropped = client.drop_shadow(options.name); !dropped) return fail(dropped.error());
  std::fprintf(stderr, "dropped %s\n", options.name.c_str());
  return kSuccess;
}

/// To check many rules may take long; heartbeats tell a server that works from one that has gone.
constexpr Manner kPatient{.heartbeats = true, .producer = 0, .reply_timeout = 3'600'000'000'000};

using Action = int (*)(Client&, const RulesOptions&);

CLI::App* add_action(CLI::App& rules, const char* name, const char* help, Action action,
                     const std::shared_ptr<RulesOptions>& options, int& exit_code) {
  auto* command = rules.add_subcommand(name, help);
  command->add_option("--to", options->to, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  add_login(*command, options->login);
  as_format(command, options->format);
  command->callback([options, action, &exit_code] {
    auto client = connect(options->to, "rules", options->login, kPatient);
    exit_code = client ? action(*client, *options) : fail(client.error());
  });
  return command;
}

void add_shadow(CLI::App& rules, const std::shared_ptr<RulesOptions>& options, int& exit_code) {
  auto* shadowing = rules.add_subcommand(
      "shadow", "Versions of rules that run beside those in force: see, promote and drop them");
  shadowing->require_subcommand(1);
  add_action(*shadowing, "list", "All of them, with the numbers of composites that differ", shadows,
             options, exit_code);
  const auto add = [&](const char* name, const char* help, Action action) {
    auto* command = add_action(*shadowing, name, help, action, options, exit_code);
    command->add_option("NAME", options->name, "Of the deployment")->required();
    return command;
  };
  add("show", "One of them, with samples of the composites that differ", shadow);
  add("promote", "Put its rules in force, in the place of those that they replace", promote)
      ->add_flag("--with-history", options->deploy.with_history,
                 "Let the rules see what is still remembered of the types that they read");
  add("drop", "End it", drop);
}

}  // namespace

void add_rules(CLI::App& app, int& exit_code) {
  auto* rules = app.add_subcommand(
      "rules", "List, show, deploy, remove and pin rules of a server, and go back to earlier ones");
  rules->require_subcommand(1);
  const auto options = std::make_shared<RulesOptions>();
  add_action(
      *rules, "list",
      "All rules in their order: counters, what they have to do in a second, on average over\n"
      "the last one or two (EV/S: events of the types that a rule reads; TERM/S: terminators;\n"
      "COMP/S: composites), memory, what a terminator takes where the rule runs and, if that\n"
      "was measured, on other engines",
      list, options, exit_code)
      ->add_flag("--memory", options->memory,
                 "Also what the rules and the types that they read hold in memory");
  add_action(*rules, "show", "One rule as it was written", show, options, exit_code)
      ->add_option("RULE", options->arguments, "Its full name")
      ->required()
      ->expected(1);
  auto* deploying = add_action(*rules, "deploy", "Deploy rule files, each as a whole or not at all",
                               deploy, options, exit_code);
  deploying
      ->add_option("FILE", options->arguments,
                   "Rule files, or folders of them, in the order of deployment")
      ->required();
  options->settings.add_option(deploying);
  deploying->add_flag("--replace", options->deploy.replace, "Replace rules of the same full names");
  deploying->add_flag("--with-history", options->deploy.with_history,
                      "Let the rules see what is still remembered of the types that they read");
  deploying
      ->add_flag("--shadow", options->shadow,
                 "Only run them beside the rules that they would replace, see `rules shadow`")
      ->excludes("--with-history");
  add_shadow(*rules, options, exit_code);
  add_action(*rules, "pin", "Have a rule evaluated by one engine; auto: where it costs least", pin,
             options, exit_code)
      ->add_option("RULE ENGINE", options->arguments,
                   "Its full name, and a name of `gorgo engines`")
      ->required()
      ->expected(2);
  add_action(*rules, "history", "The latest changes of rules: when, by whom, and what", history,
             options, exit_code)
      ->add_option("NAME", options->name, "Only of this deployment or rule");
  auto* comparing =
      add_action(*rules, "diff", "What changed from one version of a deployment to another",
                 difference, options, exit_code);
  comparing->add_option("NAME", options->name, "Of the deployment")->required();
  comparing->add_option("FROM", options->from,
                        "The number of a change; else the one before the last");
  auto* to =
      comparing->add_option("TO", options->to_change, "The number of a change; else the last one");
  comparing
      ->add_option("--file", options->file, "Say what a deployment of this rule file would change")
      ->option_text("FILE")
      ->excludes(to);
  auto* back =
      add_action(*rules, "rollback",
                 "Deploy an earlier version again, without the rules that it does not have",
                 rollback, options, exit_code);
  back->add_option("NAME", options->name, "Of the deployment")->required();
  back->add_option("NUMBER", options->from,
                   "Of the change to go back to; else the one before the last");
  CLI::App* const taken = add_action(*rules, "remove", "Remove rules", remove, options, exit_code);
  taken->add_option("RULE", options->arguments, "Full names, or names of deployments")->required();
  taken->add_flag("--deployment", options->deployment,
                  "The names are those of deployments, also where a rule has the same");
}

}  // namespace gorgo::tools
