#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gorgo/processor.hpp"
#include "language/language.hpp"
#include "tools/settings.hpp"

namespace CLI {
class App;
}

namespace gorgo::tools {

/// What evaluates the rules of a command.
struct Evaluation {
  Evaluation();

  std::string engine;    ///< of rules without @engine
  unsigned threads = 0;  ///< 0: as many as the machine runs at once
  Settings settings;
};

/// Gives a command `--engine`, `--threads` and `--set`. `evaluation` outlives the command.
void add_evaluation(CLI::App* command, Evaluation& evaluation);

/// The rule files at these paths and in these folders, with values for their constants. Prints on
/// standard error what is wrong. Unset: one cannot be read, or a value is for no constant.
std::optional<std::vector<language::Source>> read_rules(const std::vector<std::string>& paths,
                                                        Settings settings);

/// Deploys rules, and prints what is wrong with them on standard error. False: some have errors.
bool deploy_sources(const std::vector<language::Source>& rules, Processor& processor);

}  // namespace gorgo::tools
