#include "tools/evaluation.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "base/file.hpp"
#include "tools/option_checks.hpp"
#include "tools/output.hpp"
#include "tools/rule_paths.hpp"

namespace gorgo::tools {

Evaluation::Evaluation() : engine(engine_names().front()) {}

void add_evaluation(CLI::App* command, Evaluation& evaluation) {
  command->add_option("--engine", evaluation.engine, "Engine for rules without @engine")
      ->check(one_of(engine_names()))
      ->capture_default_str();
  command
      ->add_option("--threads", evaluation.threads,
                   "That evaluate rules; 0: as many as can run at once")
      ->check(number_of_threads())
      ->option_text("N=0");
  evaluation.settings.add_option(command);
}

std::optional<std::vector<language::Source>> read_rules(const std::vector<std::string>& paths,
                                                        Settings settings) {
  const auto files = rule_files(paths);
  if (!files) {
    fail(files.error());
    return std::nullopt;
  }
  std::vector<language::Source> rules;
  for (const auto& path : *files) {
    auto text = read_file(path);
    if (!text) {
      fail(text.error());
      continue;
    }
    settings.apply(rules.emplace_back(language::Source{path, std::move(*text)}));
  }
  if (rules.size() < files->size()) return std::nullopt;
  if (const auto used = settings.check_used(); !used) {
    fail(used.error());
    return std::nullopt;
  }
  return rules;
}

bool deploy_sources(const std::vector<language::Source>& rules, Processor& processor) {
  bool good = true;
  for (const language::Source& source : rules) {
    const Diagnostics diagnostics = processor.deploy(source.path, source.text);
    print_diagnostics(diagnostics);
    good = good && !diagnostics.failed();
  }
  return good;
}

}  // namespace gorgo::tools
