#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cluster/deploy.hpp"
#include "tools/cluster_nodes.hpp"
#include "tools/cluster_option.hpp"
#include "tools/cluster_plan.hpp"
#include "tools/commands.hpp"
#include "tools/format_option.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"
#include "tools/rule_paths.hpp"
#include "tools/rule_sources.hpp"
#include "tools/settings.hpp"

namespace gorgo::tools {
namespace {

struct ClusterOptions {
  ClusterOption cluster;
  Settings settings;
  std::vector<std::string> files;
  std::string format = "text";
};

/// Rule files as they are deployed to a cluster.
struct ClusterRules {
  RuleSources sources;
  std::vector<cluster::RuleText> texts;
};

/// False: a file has errors, which were printed.
bool add_file(const std::string& path, ClusterOptions& options, ClusterRules& rules) {
  auto source = read_source(path);
  if (!source) return fail(source.error()) == kSuccess;
  options.settings.apply(*source);
  const Diagnostics diagnostics = rules.sources.add(*source);
  print_diagnostics(diagnostics);
  rules.texts.push_back({std::filesystem::path(path).filename().string(), source->text});
  return !diagnostics.failed();
}

/// Events about a server stay there.
Result<void> check_types(const cluster::ClusterPlan& plan) {
  for (const auto& [type, families] : plan.routes) {
    if (!type.starts_with("gorgo.")) continue;
    return Error{"rules of a cluster cannot read " + type + ", which each server has for itself",
                 "deploy such rules to the servers: gorgo rules deploy"};
  }
  return {};
}

std::string names_of(const std::vector<std::string>& nodes) {
  std::string all;
  for (const std::string& node : nodes) all += (all.empty() ? "" : ", ") + node;
  return all.empty() ? "none" : all;
}

int print_deployed(const cluster::Deployed& done, const cluster::ClusterPlan& plan,
                   const std::string& format) {
  if (format == "json") {
    auto json = cluster_json(plan);
    json["version"] = done.version;
    json["gateways"] = done.gateways;
    json["absent"] = done.absent;
    print_json(json);
    return kSuccess;
  }
  std::printf("version %llu, nodes that follow it: %s\n",
              static_cast<unsigned long long>(done.version), names_of(done.gateways).c_str());
  if (!done.absent.empty()) {
    std::printf("nodes that are not there, and follow it when they come: %s\n",
                names_of(done.absent).c_str());
  }
  std::printf("\n%s", cluster_text(plan).c_str());
  return kSuccess;
}

int deploy_to_cluster(ClusterOptions& options) {
  const auto settings = options.cluster.settings();
  if (!settings) return misuse(settings.error());
  const auto files = rule_files(options.files);
  if (!files) return fail(files.error());
  ClusterRules rules;
  bool is_right = true;
  for (const std::string& path : *files) is_right = add_file(path, options, rules) && is_right;
  if (const auto used = options.settings.check_used(); !used) return fail(used.error());
  if (!is_right) return kFailure;
  const auto plan = cluster::plan_cluster(rules.sources.plans(), rules.sources.schema());
  if (const auto checked = check_types(plan); !checked) return fail(checked.error());
  const auto done = cluster::deploy(*settings, std::move(rules.texts), plan);
  if (!done) return fail(done.error());
  return print_deployed(*done, plan, options.format);
}

int show_rules(const ClusterOptions& options) {
  const auto settings = options.cluster.settings();
  if (!settings) return misuse(settings.error());
  const auto deployment = cluster::deployed(*settings);
  if (!deployment) return fail(deployment.error());
  if (deployment->version == 0) {
    return fail({"nothing was ever deployed to the cluster " + settings->name,
                 "gorgo cluster deploy FILE"});
  }
  if (options.format == "json") {
    auto json = cluster_json(deployment->plan);
    json["version"] = deployment->version;
    json["partitions"] = deployment->partitions;
    print_json(json);
    return kSuccess;
  }
  std::printf("version %llu, %u partitions\n\n%s",
              static_cast<unsigned long long>(deployment->version), deployment->partitions,
              cluster_text(deployment->plan).c_str());
  return kSuccess;
}

}  // namespace

void add_cluster(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("cluster",
                                     "Deploy rules to a cluster, show who evaluates them, and have "
                                     "others do so (docs/cluster.md)");
  const auto options = std::make_shared<ClusterOptions>();
  const auto add = [&](const char* name, const char* about) {
    auto* one = command->add_subcommand(name, about);
    options->cluster.add_to(one);
    as_format(one, options->format);
    return one;
  };
  auto* deploy = add("deploy", "Put rules in force in the place of all that the cluster has");
  deploy->add_option("FILE", options->files, "Rule files, or folders of them")->required();
  options->settings.add_option(deploy);
  deploy->callback([options, &exit_code] { exit_code = deploy_to_cluster(*options); });
  add("rules", "The rules in force and where they run")->callback([options, &exit_code] {
    exit_code = show_rules(*options);
  });
  add_cluster_nodes(add, options->cluster, options->format, exit_code);
  command->require_subcommand(1);
}

}  // namespace gorgo::tools
