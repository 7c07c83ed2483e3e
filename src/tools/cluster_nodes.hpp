#pragma once

#include <functional>
#include <string>

#include "tools/cluster_option.hpp"

namespace CLI {
class App;
}

namespace gorgo::tools {

/// Adds a command to `gorgo cluster`, with the options that all of them have.
using AddClusterCommand = std::function<CLI::App*(const char* name, const char* about)>;

/// Adds `status`, `drain` and `move`. What they are given outlives them, but for `add`.
void add_cluster_nodes(const AddClusterCommand& add, const ClusterOption& cluster,
                       const std::string& format, int& exit_code);

}  // namespace gorgo::tools
