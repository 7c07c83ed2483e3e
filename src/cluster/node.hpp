#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cluster/membership.hpp"
#include "cluster/ownership.hpp"
#include "cluster/partition.hpp"

namespace gorgo::cluster {

struct NodeSettings {
  doors::Settings broker;
  std::string cluster, node;
  std::uint32_t replicas = 1;  ///< of the lease bucket, where it has to be made
  bool has_standbys = true;
  ProcessorOptions options;  ///< those that decide results are the same at all nodes
  /// Its folder has one for each partition.
  SnapshotSettings snapshots = {};
  /// Called behind each success of `FindPartitions`, by the same thread, with the node's
  /// partitions.
  std::function<void(const doors::nats::Connection& connection,
                     const std::map<PartitionName, Partition::State>& states)>
      tend = nullptr;
};

/// A node of a cluster: it holds its lease, hears those of the others, and has the partitions that
/// `duty_of` gives it. Its destructor gives them away. All members: any thread.
class Node {
 public:
  /// All partitions that there are. Called once a second, by a thread of its own, because nobody
  /// must wait for the brokers while leases are renewed. Where it fails, what it said last holds.
  using FindPartitions =
      std::function<Result<std::vector<PartitionName>>(const doors::nats::Connection& connection)>;

  Node(NodeSettings settings, FindPartitions find);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Has it give its partitions away soon, for good. The destructor waits until it has.
  void stop();
  /// The state of each partition that the node has.
  std::map<PartitionName, Partition::State> partitions() const;
  /// Why there is no way to the brokers; empty: there is one.
  std::string problem() const;
  /// What it has heard of all nodes, itself included; while there is no way to the brokers, what it
  /// heard last. Empty before it has reached them.
  Situation situation() const;
  /// All partitions that there are, also those that no node has.
  std::vector<PartitionName> all_partitions() const;
  const std::string& cluster() const { return settings_.cluster; }
  const std::string& name() const { return settings_.node; }

 private:
  using Clock = std::chrono::steady_clock;

  const NodeSettings settings_;
  const FindPartitions find_;
  std::atomic<bool> stops_ = false;
  // Guards `partitions_` against readers, `all_`, `problem_` and `situation_`.
  mutable std::mutex mutex_;
  std::condition_variable woken_;
  std::map<PartitionName, std::unique_ptr<Partition>> partitions_;
  std::vector<PartitionName> all_;
  std::string problem_;
  Situation situation_;

  // The thread alone uses these.
  doors::nats::Connection connection_;
  Membership members_;
  bool has_heard_all_ = false;
  Clock::time_point next_renewal_ = {};
  Member told_;                                     // in the last lease
  std::vector<std::unique_ptr<Partition>> ending_;  // until their threads have ended

  std::thread finder_, thread_;  // the last members, because they use the others

  void run();
  void find();
  Result<void> step();
  Result<void> open();
  void take_duties();
  void set_duty(const PartitionName& name, Duty duty);
  Member describe() const;
  Result<void> renew_if_due();
  void give_up();
};

}  // namespace gorgo::cluster
