#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/deployment.hpp"
#include "cluster/settings.hpp"

namespace gorgo::cluster {

/// What a deployment has done.
struct Deployed {
  std::uint64_t version = 0;
  std::vector<std::string> gateways;  ///< nodes that send as the deployment says
  std::vector<std::string> absent;    ///< nodes that were there once and say nothing
};

/// The deployment that the cluster follows; without one its version is 0.
Result<Deployment> deployed(const Settings& settings);

/// Puts rules in force in a cluster, in the place of those it has: makes the streams, waits until
/// every gateway that lives sends as the plan says, then tells each partition, between two events.
/// It may be done again after an error, and goes on where it stopped. Blocks; any thread.
Result<Deployed> deploy(const Settings& settings, std::vector<RuleText> texts, ClusterPlan plan);

}  // namespace gorgo::cluster
