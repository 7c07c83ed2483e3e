#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gorgo/client.hpp"
#include "tools/cluster_findings.hpp"
#include "tools/cluster_option.hpp"
#include "tools/commands.hpp"
#include "tools/findings.hpp"
#include "tools/format_option.hpp"
#include "tools/journal_findings.hpp"
#include "tools/listing.hpp"
#include "tools/login.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"
#include "tools/terminal.hpp"

namespace gorgo::tools {
namespace {

struct DoctorOptions {
  std::string to = "127.0.0.1:7450";
  std::string format = "text";
  Login login;
};

void print(const std::vector<std::string>& findings, const std::string& format) {
  if (format == "json") return print_json({{"findings", findings}});
  constexpr std::size_t kWhole = static_cast<std::size_t>(-1);
  const std::size_t width = Terminal::is_there() ? Terminal::size().width : kWhole;
  for (const std::string& finding : findings) {
    for (const std::string& line : wrapped(shown(finding), width)) std::puts(line.c_str());
  }
  if (findings.empty()) std::puts("Nothing stands out.");
}

int examine(const DoctorOptions& options) {
  auto client = connect(options.to, "doctor", options.login);
  if (!client) return fail(client.error());
  const auto rules = client->rules();
  if (!rules) return fail(rules.error());
  const auto types = client->types();
  if (!types) return fail(types.error());
  print(findings_about(*rules, *types), options.format);
  return kSuccess;
}

int examine_journal(const std::string& folder, const std::string& format) {
  const auto findings = findings_about_journal(folder);
  print(findings.sentences, format);
  return findings.can_start ? kSuccess : kFailure;
}

int examine_cluster(const ClusterOption& cluster, const std::string& format) {
  const auto settings = cluster.settings();
  if (!settings) return misuse(settings.error());
  const auto findings = findings_about_cluster(*settings);
  if (!findings) return fail(findings.error());
  print(*findings, format);
  return kSuccess;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "doctor",
      "Say what stands out about a server: types and attributes that rules read and that never\n"
      "come, or that come and nobody reads, rules that never or always fire, events that come too\n"
      "late, rules that do not get done");
  const auto options = std::make_shared<DoctorOptions>();
  command->add_option("--to", options->to, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  as_format(command, options->format);
  add_login(*command, options->login);
  const auto folder = std::make_shared<std::string>();
  auto* journal = command->add_subcommand(
      "journal",
      "Read a journal and say what is wrong with it and what to do; a server may be running.\n"
      "The exit code is 1 where there is none, or no server can start with it");
  journal->add_option("DIR", *folder, "The folder of the journal")->required()->option_text(" ");
  as_format(journal, options->format);
  const auto cluster = std::make_shared<ClusterOption>();
  auto* of_cluster = command->add_subcommand("cluster",
                                             "Say what stands out about the brokers, streams and "
                                             "nodes of a cluster, and what its brokers\n"
                                             "do not promise");
  cluster->add_to(of_cluster);
  as_format(of_cluster, options->format);
  command->callback([options, folder, journal, cluster, of_cluster, &exit_code] {
    if (journal->parsed()) {
      exit_code = examine_journal(*folder, options->format);
    } else if (of_cluster->parsed()) {
      exit_code = examine_cluster(*cluster, options->format);
    } else {
      exit_code = examine(*options);
    }
  });
}

}  // namespace gorgo::tools
