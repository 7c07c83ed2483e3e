#pragma once

#include <string>
#include <vector>

#include "cluster/settings.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::tools {

/// What stands out about the brokers of a cluster, its streams and its nodes, and what its brokers
/// cannot promise: a sentence or two each, with what to do about it. Takes as long as a lease. An
/// error: no broker answers that knows the cluster.
Result<std::vector<std::string>> findings_about_cluster(const cluster::Settings& settings);

}  // namespace gorgo::tools
