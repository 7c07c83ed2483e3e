#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cluster/plan.hpp"

namespace gorgo::tools {

/// Where the rules of a cluster run, why some are not divided, and how often each event is sent.
std::string cluster_text(const cluster::ClusterPlan& plan);
nlohmann::ordered_json cluster_json(const cluster::ClusterPlan& plan);

}  // namespace gorgo::tools
