#include "tools/evaluation.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "base/file.hpp"
#include "tools/output.hpp"
#include "tools/rule_paths.hpp"

namespace gorgo::tools {

Evaluation::Evaluation() : engine(engine_names().front()) {}

void add_evaluation(CLI::App* command, Evaluation& evaluation) {
  command->add_option("--engine", evaluation.engine, "Engine for rules without @engine")
      ->check(CLI::IsMember(engine_names()))
      ->capture_default_str();
  command
      ->add_option("--threads", evaluation.threads,
                   "That evaluate rules; 0: as many as the machine runs at once")
      ->capture_default_str();
  evaluation.settings.add_option(command);
}

bool deploy_files(const std::vector<std::string>& paths, Settings settings, Processor& processor) {
  const auto files = rule_files(paths);
  if (!files) {
    fail(files.error());
    return false;
  }
  bool good = true;
  for (const auto& path : *files) {
    auto text = read_file(path);
    if (!text) {
      fail(text.error());
      good = false;
      continue;
    }
    language::Source source{path, std::move(*text)};
    settings.apply(source);
    const Diagnostics diagnostics = processor.deploy(path, source.text);
    print_diagnostics(diagnostics);
    good = good && !diagnostics.failed();
  }
  if (const auto used = settings.check_used(); !used) {
    fail(used.error());
    return false;
  }
  return good;
}

}  // namespace gorgo::tools
