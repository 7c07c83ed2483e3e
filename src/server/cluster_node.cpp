#include "server/cluster_node.hpp"

#include <utility>
#include <vector>

#include "cluster/gateway.hpp"
#include "cluster/outlet.hpp"
#include "cluster/plan_store.hpp"

namespace gorgo::server {
namespace {

/// All nodes have to take the same events, so that each comes to the same results. Gateways whose
/// events meet in a partition may be so far apart.
constexpr Duration kMostLate = 60'000'000'000;

/// Reads which partitions there are.
Result<std::vector<cluster::PartitionName>> partitions_in_force(
    const std::string& cluster, const doors::nats::Connection& connection) {
  cluster::PlanStore store(cluster);
  const auto there = store.open(connection.get());
  if (!there) return there.error();
  if (!*there) return std::vector<cluster::PartitionName>();
  const auto found = store.read();
  if (!found) return found.error();
  return found->deployment.partition_names();
}

}  // namespace

std::map<std::string, OwnDoor> cluster_doors(const cluster::Settings& settings,
                                             std::uint64_t journal) {
  if (!settings.is_on()) return {};
  OwnDoor in;
  in.settings = cluster::broker_settings(settings);
  in.settings.kind = "cluster";
  in.settings.given = {{"cluster", settings.name}};
  OwnDoor out = in;
  // Everything: so the subscription stays what it is when other rules are deployed.
  out.settings.subscribe = "*";
  in.make_source = [settings](const doors::Position& position) {
    return Result<std::unique_ptr<doors::Source>>(
        std::in_place, std::make_unique<cluster::Outlet>(settings, position));
  };
  out.make_sink = [settings, journal] {
    return Result<std::unique_ptr<doors::Sink>>(
        std::in_place, std::make_unique<cluster::Gateway>(settings, journal));
  };
  return {{"cluster in", std::move(in)}, {"cluster out", std::move(out)}};
}

std::unique_ptr<cluster::Node> start_node(const cluster::Settings& settings) {
  if (!settings.is_on()) return nullptr;
  cluster::NodeSettings node{.broker = cluster::broker_settings(settings),
                             .cluster = settings.name,
                             .node = settings.node,
                             .replicas = settings.replicas,
                             .has_standbys = settings.standby,
                             .options = {}};
  node.options.max_late = kMostLate;
  return std::make_unique<cluster::Node>(
      std::move(node), [name = settings.name](const doors::nats::Connection& connection) {
        return partitions_in_force(name, connection);
      });
}

}  // namespace gorgo::server
