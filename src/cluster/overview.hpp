#pragma once

#include <map>
#include <string>
#include <vector>

#include "cluster/ownership.hpp"
#include "doors/settings.hpp"
#include "gorgo/diagnostics.hpp"

/// What people see of a cluster's nodes and ask of them. Each function speaks with the brokers by a
/// connection of its own, and returns when it has.
namespace gorgo::cluster {

struct Overview {
  Situation situation;
  /// The partitions that some live node owns or is ready for.
  std::vector<PartitionName> partitions() const;
  /// The nodes that say they own the partition: one, but for the moments in which it changes hands.
  std::vector<std::string> owners(const PartitionName& partition) const;
  /// The others that are ready to own it.
  std::vector<std::string> standbys(const PartitionName& partition) const;
  /// Why partitions stand still, as some node says.
  std::map<PartitionName, std::string> stuck() const;
};

/// Listens until each node has renewed its lease, or for as long as a lease lasts.
Result<Overview> look_at(const doors::Settings& broker, const std::string& cluster);
/// Has a node give away its partitions, or take part again.
Result<void> drain_node(const doors::Settings& broker, const std::string& cluster,
                        const std::string& node, bool drained);
/// Has a node own a partition; an empty name: whoever should by the hash. An error: there is no
/// such partition or node.
Result<void> move_partition(const doors::Settings& broker, const std::string& cluster,
                            const PartitionName& partition, const std::string& node);

}  // namespace gorgo::cluster
