#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cluster/deployment.hpp"
#include "cluster/partition.hpp"
#include "doors/nats/connection.hpp"

namespace gorgo::cluster {

/// Keeps the rules in the input streams. A partition learns its rules from a message of its stream,
/// and the stream forgets what is older than it keeps: whoever read it from its beginning then
/// would have no rules, and nobody would know. So owners have their partitions told again in time,
/// and at last where a deployment did not come to its end. A partition that knows the rules passes
/// over such a message. One thread.
class RulesKeeper {
 public:
  using States = std::map<PartitionName, Partition::State>;

  explicit RulesKeeper(std::string cluster) : cluster_(std::move(cluster)) {}

  /// The partitions among those of this node that are to be told the rules of the deployment.
  /// `now`: nanoseconds since the Unix epoch.
  std::vector<PartitionName> due(const Deployment& deployment, const States& states,
                                 std::int64_t now);
  /// Tells those that are due. Where that fails, they are due again the next time.
  Result<void> look(const doors::nats::Connection& connection, const Deployment& deployment,
                    const States& states);

 private:
  const std::string cluster_;
  std::map<PartitionName, std::int64_t> behind_since_;  // they have other rules
  std::map<PartitionName, std::int64_t> told_;          // when, for the brokers' clocks may differ

  bool is_due(const PartitionName& name, const Partition::State& state,
              const Deployment& deployment, std::int64_t now);
};

}  // namespace gorgo::cluster
