#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tools/commands.hpp"
#include "tools/number_text.hpp"
#include "tools/option_checks.hpp"
#include "tools/output.hpp"
#include "tools/rule_paths.hpp"
#include "tools/rule_sources.hpp"
#include "tools/settings.hpp"

namespace gorgo::tools {
namespace {

struct CheckOptions {
  Settings settings;
  std::vector<std::string> files;
  std::string format = "text";
};

struct Totals {
  std::size_t errors = 0;
  std::size_t warnings = 0;
};

void count(const Diagnostics& diagnostics, Totals& totals) {
  for (const auto& diagnostic : diagnostics.list) {
    ++(diagnostic.severity == Severity::error ? totals.errors : totals.warnings);
  }
}

int check(CheckOptions& options) {
  Totals totals;
  RuleSources sources;
  const auto files = rule_files(options.files);
  if (!files) return fail(files.error());
  for (const auto& path : *files) {
    auto source = read_source(path);
    if (!source) {
      fail(source.error());
      ++totals.errors;
      continue;
    }
    options.settings.apply(*source);
    const Diagnostics diagnostics = sources.add(*source);
    print_diagnostics(diagnostics, options.format);
    count(diagnostics, totals);
  }
  if (const auto used = options.settings.check_used(); !used) {
    fail(used.error());
    ++totals.errors;
  }
  if (options.format == "text") {
    std::fprintf(stderr, "%s, %s: %s, %s\n", plural(files->size(), "file").c_str(),
                 plural(sources.plans().size(), "rule").c_str(),
                 plural(totals.errors, "error").c_str(),
                 plural(totals.warnings, "warning").c_str());
  }
  return totals.errors == 0 ? kSuccess : kFailure;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("check", "Check rule files without running them");
  const auto options = std::make_shared<CheckOptions>();
  command
      ->add_option("FILE", options->files,
                   "Rule files, or folders of them, in the order of deployment; - is stdin")
      ->required();
  command->add_option("--format", options->format, "text (to stderr) or json (lines, to stdout)")
      ->check(one_of({"text", "json"}))
      ->capture_default_str();
  options->settings.add_option(command);
  command->callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace gorgo::tools
