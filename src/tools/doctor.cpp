#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "gorgo/client.hpp"
#include "tools/commands.hpp"
#include "tools/findings.hpp"
#include "tools/journal_findings.hpp"
#include "tools/login.hpp"
#include "tools/output.hpp"

namespace gorgo::tools {
namespace {

struct DoctorOptions {
  std::string to = "127.0.0.1:7450";
  Login login;
};

int examine(const DoctorOptions& options) {
  auto client = connect(options.to, "doctor", options.login);
  if (!client) return fail(client.error());
  const auto rules = client->rules();
  if (!rules) return fail(rules.error());
  const auto types = client->types();
  if (!types) return fail(types.error());
  const auto findings = findings_about(*rules, *types);
  for (const std::string& finding : findings) std::puts(finding.c_str());
  if (findings.empty()) std::puts("Nothing stands out.");
  return kSuccess;
}

int examine_journal(const std::string& folder) {
  const auto findings = findings_about_journal(folder);
  for (const std::string& finding : findings.sentences) std::puts(finding.c_str());
  if (findings.sentences.empty()) std::puts("Nothing stands out.");
  return findings.can_start ? kSuccess : kFailure;
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
  add_login(*command, options->login);
  const auto folder = std::make_shared<std::string>();
  auto* journal = command->add_subcommand(
      "journal",
      "Read a journal and say what is wrong with it and what to do; a server may be running.\n"
      "The exit code is 1 where no server can start with it");
  journal->add_option("DIR", *folder, "The folder of the journal")->required()->option_text(" ");
  command->callback([options, folder, journal, &exit_code] {
    exit_code = journal->parsed() ? examine_journal(*folder) : examine(*options);
  });
}

}  // namespace gorgo::tools
