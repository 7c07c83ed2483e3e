#include "tools/evaluation.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

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
}

bool deploy_files(const std::vector<std::string>& paths, Processor& processor) {
  const auto files = rule_files(paths);
  if (!files) {
    fail(files.error());
    return false;
  }
  bool good = true;
  for (const auto& path : *files) {
    const auto text = read_file(path);
    if (!text) {
      fail(text.error());
      good = false;
      continue;
    }
    const Diagnostics diagnostics = processor.deploy(path, *text);
    std::fputs(diagnostics.render().c_str(), stderr);
    good = good && !diagnostics.failed();
  }
  return good;
}

}  // namespace gorgo::tools
