#pragma once

#include <string>

#include "cluster/settings.hpp"
#include "gorgo/result.hpp"

namespace CLI {
class App;
}

namespace gorgo::tools {

/// Which cluster a command speaks with: that of a configuration, or one that the command line
/// names.
class ClusterOption {
 public:
  /// Gives a command the options. This outlives the command.
  void add_to(CLI::App* command);
  Result<cluster::Settings> settings() const;

 private:
  std::string config_, name_, brokers_, user_, password_file_, ca_;
};

}  // namespace gorgo::tools
