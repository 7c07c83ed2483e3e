#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "cluster/node.hpp"
#include "cluster/settings.hpp"
#include "server/doors/doors.hpp"
#include "server/log.hpp"

/// What makes a server a node of a cluster: two doors and the partitions. Any thread.
namespace gorgo::server {

/// The door by which a node's events go to the cluster, and the one by which composites come from
/// there. Empty: the server is in none. `journal`: the number of the journal that counts places.
std::map<std::string, OwnDoor> cluster_doors(const cluster::Settings& settings,
                                             std::uint64_t journal);

/// Has the server evaluate its part of the partitions that the deployment in force has. Their
/// snapshots are beside the server's journal, in this folder. Null: the server is in no cluster.
/// The log outlives the node.
std::unique_ptr<cluster::Node> start_node(const cluster::Settings& settings,
                                          const std::string& journal, Log& log);

}  // namespace gorgo::server
