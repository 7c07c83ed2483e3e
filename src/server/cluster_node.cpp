#include "server/cluster_node.hpp"

#include <utility>
#include <vector>

#include "cluster/gateway.hpp"
#include "cluster/outlet.hpp"
#include "cluster/plan_store.hpp"
#include "cluster/rules_keeper.hpp"

namespace gorgo::server {
namespace {

/// All nodes have to take the same events, so that each comes to the same results. Gateways whose
/// events meet in a partition may be so far apart.
constexpr Duration kMostLate = 60'000'000'000;

/// The deployment in force, as the node has read it last. One thread.
class InForce {
 public:
  explicit InForce(const std::string& cluster) : cluster_(cluster), keeper_(cluster) {}

  /// Reads which partitions there are.
  Result<std::vector<cluster::PartitionName>> find(const doors::nats::Connection& connection) {
    cluster::PlanStore store(cluster_);
    const auto there = store.open(connection.get());
    if (!there) return there.error();
    if (!*there) return std::vector<cluster::PartitionName>();
    auto found = store.read();
    if (!found) return found.error();
    deployment_ = std::move(found->deployment);
    return deployment_.partition_names();
  }
  void tend(const doors::nats::Connection& connection, const cluster::RulesKeeper::States& states) {
    // Where it fails, the broker is away, which others tell, and it is done again in a second.
    (void)keeper_.look(connection, deployment_, states);
  }

 private:
  const std::string cluster_;
  cluster::Deployment deployment_;
  cluster::RulesKeeper keeper_;
};

/// Tells the log of each partition that stands still, and when it goes on. One thread.
class StuckPartitions {
 public:
  explicit StuckPartitions(Log& log) : log_(log) {}

  void look(const cluster::RulesKeeper::States& states) {
    for (const auto& [name, state] : states) {
      std::string& told = told_[name];
      if (state.stray == told) continue;
      told = state.stray;
      if (told.empty()) {
        log_.info("partition goes on", {{"partition", name.text()}});
      } else {
        log_.error("partition stands still, and its composites wait",
                   {{"partition", name.text()}, {"reason", told}});
      }
    }
    std::erase_if(told_, [&](const auto& one) { return !states.contains(one.first); });
  }

 private:
  Log& log_;
  std::map<cluster::PartitionName, std::string> told_;
};

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
    return Result<std::unique_ptr<doors::ColumnSink>>(
        std::in_place, std::make_unique<cluster::Gateway>(settings, journal));
  };
  return {{"cluster in", std::move(in)}, {"cluster out", std::move(out)}};
}

std::unique_ptr<cluster::Node> start_node(const cluster::Settings& settings,
                                          const std::string& journal, Log& log) {
  if (!settings.is_on()) return nullptr;
  cluster::NodeSettings node{.broker = cluster::broker_settings(settings),
                             .cluster = settings.name,
                             .node = settings.node,
                             .replicas = settings.replicas,
                             .has_standbys = settings.standby,
                             .options = {},
                             .snapshots = {.folder = journal + "/partitions/" + settings.name,
                                           .bytes = settings.snapshot_bytes}};
  node.options.max_late = kMostLate;
  const auto in_force = std::make_shared<InForce>(settings.name);
  const auto stuck = std::make_shared<StuckPartitions>(log);
  node.tend = [in_force, stuck](const doors::nats::Connection& connection,
                                const cluster::RulesKeeper::States& states) {
    in_force->tend(connection, states);
    stuck->look(states);
  };
  return std::make_unique<cluster::Node>(
      std::move(node),
      [in_force](const doors::nats::Connection& connection) { return in_force->find(connection); });
}

}  // namespace gorgo::server
