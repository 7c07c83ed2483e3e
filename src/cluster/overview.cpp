#include "cluster/overview.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "cluster/membership.hpp"

namespace gorgo::cluster {
namespace {

using Clock = std::chrono::steady_clock;

/// The lease bucket, which is read as long as this lives.
class Listener {
 public:
  Listener(const doors::Settings& broker, const std::string& cluster)
      : cluster_(cluster), connection_(broker, "gorgo-cluster"), members_(cluster) {}
  ~Listener() { connection_.close(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  Result<void> open() {
    if (const auto opened = connection_.open(); !opened) return opened.error();
    if (members_.exists(connection_)) return members_.open(connection_, 1);
    return Error{"no node of the cluster " + cluster_ + " has ever come", "docs/cluster.md"};
  }
  /// What old leases say is over when this returns: all nodes have renewed theirs, or the time for
  /// that has passed.
  Result<void> listen() {
    const auto begin = Clock::now();
    const auto heard_all = begin + Membership::kRenewal * 5 / 4;
    const auto until = begin + Membership::kLease + Membership::kRenewal / 2;
    while (Clock::now() < until) {
      if (auto read = members_.read(std::chrono::milliseconds(100)); !read) return read;
      if (Clock::now() > heard_all && members_.have_all_renewed()) break;
    }
    return {};
  }
  Overview seen() const {
    return {.situation = {.live = members_.live(),
                          .drained = members_.drained(),
                          .appointed = members_.appointed(),
                          .has_standbys = true}};
  }
  Membership& members() { return members_; }
  natsConnection* connection() const { return connection_.get(); }

 private:
  const std::string cluster_;
  doors::nats::Connection connection_;
  Membership members_;
};

std::vector<std::string> nodes_where(const Situation& situation, auto holds) {
  std::vector<std::string> nodes;
  for (const auto& [node, member] : situation.live) {
    if (holds(member)) nodes.push_back(node);
  }
  return nodes;
}

}  // namespace

std::vector<PartitionName> Overview::partitions() const {
  std::set<PartitionName> all;
  for (const auto& [node, member] : situation.live) {
    all.insert(member.owns.begin(), member.owns.end());
    all.insert(member.ready.begin(), member.ready.end());
  }
  return {all.begin(), all.end()};
}

std::vector<std::string> Overview::owners(const PartitionName& partition) const {
  return nodes_where(situation, [&](const Member& one) { return one.owns.contains(partition); });
}

std::vector<std::string> Overview::standbys(const PartitionName& partition) const {
  return nodes_where(situation, [&](const Member& one) {
    return one.ready.contains(partition) && !one.owns.contains(partition);
  });
}

std::map<PartitionName, std::string> Overview::stuck() const {
  std::map<PartitionName, std::string> all;
  for (const auto& [node, member] : situation.live) {
    all.insert(member.stuck.begin(), member.stuck.end());
  }
  return all;
}

Result<Overview> look_at(const doors::Settings& broker, const std::string& cluster) {
  Listener listener(broker, cluster);
  if (auto opened = listener.open(); !opened) return opened.error();
  if (auto listened = listener.listen(); !listened) return listened.error();
  return listener.seen();
}

Result<void> drain_node(const doors::Settings& broker, const std::string& cluster,
                        const std::string& node, bool drained) {
  Listener listener(broker, cluster);
  if (auto opened = listener.open(); !opened) return opened;
  if (auto listened = listener.listen(); !listened) return listened;
  const Overview seen = listener.seen();
  const auto& situation = seen.situation;
  if (!situation.live.contains(node) && !situation.drained.contains(node)) {
    return Error{"no node " + node + " is there", "gorgo cluster status"};
  }
  return listener.members().drain(listener.connection(), node, drained);
}

Result<void> move_partition(const doors::Settings& broker, const std::string& cluster,
                            const PartitionName& partition, const std::string& node) {
  Listener listener(broker, cluster);
  if (auto opened = listener.open(); !opened) return opened;
  if (auto listened = listener.listen(); !listened) return listened;
  const Overview seen = listener.seen();
  const auto all = seen.partitions();
  if (std::ranges::find(all, partition) == all.end()) {
    return Error{"no node has a partition " + partition.text(), "gorgo cluster status"};
  }
  if (!node.empty() && !seen.situation.live.contains(node)) {
    return Error{"no node " + node + " is there", "gorgo cluster status"};
  }
  if (seen.situation.drained.contains(node)) {
    return Error{"the node " + node + " is drained", "gorgo cluster drain --end " + node};
  }
  return listener.members().appoint(listener.connection(), partition, node);
}

}  // namespace gorgo::cluster
