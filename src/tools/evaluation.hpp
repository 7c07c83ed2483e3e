#pragma once

#include <string>
#include <vector>

#include "gorgo/processor.hpp"
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

/// Deploys rule files and those of folders, with values for their constants, and prints what is
/// wrong with them on standard error. False: some cannot be read or have errors.
bool deploy_files(const std::vector<std::string>& paths, Settings settings, Processor& processor);

}  // namespace gorgo::tools
