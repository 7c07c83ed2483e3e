#include "tools/cluster_nodes.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cluster/deploy.hpp"
#include "cluster/overview.hpp"
#include "tools/commands.hpp"
#include "tools/listing.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"

namespace gorgo::tools {
namespace {

using cluster::PartitionName;

/// What the nodes say, and which partitions there should be.
struct Status {
  cluster::Overview seen;
  std::uint64_t version = 0;  ///< of the rules
  /// Those of the rules in force, and those that a node still has.
  std::set<PartitionName> partitions;
};

std::string node_list(const std::vector<std::string>& nodes) {
  std::string all;
  for (const std::string& node : nodes) all += (all.empty() ? "" : ", ") + node;
  return all.empty() ? "-" : all;
}

std::string appointed_to(const Status& status, const PartitionName& partition) {
  const auto& appointed = status.seen.situation.appointed;
  const auto found = appointed.find(partition);
  return found == appointed.end() ? "" : found->second;
}

void print_status(const Status& status) {
  Table nodes = {{"NODE", "OWNS", "READY", "STATE"}};
  const auto& situation = status.seen.situation;
  for (const auto& [node, member] : situation.live) {
    nodes.push_back({node, std::to_string(member.owns.size()), std::to_string(member.ready.size()),
                     situation.drained.contains(node) ? "drained" : "running"});
  }
  for (const std::string& node : situation.drained) {
    if (!situation.live.contains(node)) nodes.push_back({node, "0", "0", "drained, not there"});
  }
  print_table(nodes);
  const auto stuck = status.seen.stuck();
  Table partitions = {{"PARTITION", "OWNER", "STANDBY", "MOVED TO", "STATE"}};
  for (const PartitionName& one : status.partitions) {
    const std::string to = appointed_to(status, one);
    partitions.push_back({one.text(), node_list(status.seen.owners(one)),
                          node_list(status.seen.standbys(one)), to.empty() ? "-" : to,
                          stuck.contains(one) ? "stands still" : "running"});
  }
  std::puts("");
  print_table(partitions);
  if (!stuck.empty()) std::puts("");
  for (const auto& [partition, why] : stuck) {
    std::printf("%s stands still: %s\n", partition.text().c_str(), why.c_str());
  }
  std::printf("\nrules: version %llu\n", static_cast<unsigned long long>(status.version));
}

nlohmann::ordered_json status_json(const Status& status) {
  auto nodes = nlohmann::ordered_json::array(), partitions = nodes;
  const auto& situation = status.seen.situation;
  for (const auto& [node, member] : situation.live) {
    nodes.push_back({{"node", node},
                     {"owns", member.owns.size()},
                     {"ready", member.ready.size()},
                     {"drained", situation.drained.contains(node)}});
  }
  const auto stuck = status.seen.stuck();
  for (const PartitionName& one : status.partitions) {
    const auto why = stuck.find(one);
    partitions.push_back({{"family", one.family},
                          {"partition", one.number},
                          {"owners", status.seen.owners(one)},
                          {"standbys", status.seen.standbys(one)},
                          {"moved_to", appointed_to(status, one)},
                          {"problem", why == stuck.end() ? "" : why->second}});
  }
  return {{"version", status.version}, {"nodes", nodes}, {"partitions", partitions}};
}

int show_status(const cluster::Settings& settings, const std::string& format) {
  const auto deployment = cluster::deployed(settings);
  if (!deployment) return fail(deployment.error());
  const auto seen = cluster::look_at(broker_settings(settings), settings.name);
  if (!seen) return fail(seen.error());
  Status status{.seen = *seen, .version = deployment->version, .partitions = {}};
  for (const auto& all : {deployment->partition_names(), seen->partitions()}) {
    status.partitions.insert(all.begin(), all.end());
  }
  if (format == "json") {
    print_json(status_json(status));
  } else {
    print_status(status);
  }
  return kSuccess;
}

/// What somebody wants of a node.
struct Wish {
  std::string node, family;
  std::uint32_t partition = 0;
  bool ends = false;
};

/// Says what happens from here on, to people.
int say(const Result<void>& done, const std::string& format, const std::string& what) {
  if (!done) return fail(done.error());
  if (format != "json") std::puts(what.c_str());
  return kSuccess;
}

int drain_node(const cluster::Settings& settings, const std::string& format, const Wish& wish) {
  const auto done =
      cluster::drain_node(broker_settings(settings), settings.name, wish.node, !wish.ends);
  return say(done, format,
             wish.node + (wish.ends ? " takes part again"
                                    : " gives its partitions away as soon as others are ready"));
}

int move_partition(const cluster::Settings& settings, const std::string& format, const Wish& wish) {
  const PartitionName partition{wish.family, wish.partition};
  const auto done =
      cluster::move_partition(broker_settings(settings), settings.name, partition, wish.node);
  return say(done, format,
             wish.node.empty()
                 ? partition.text() + " goes where it would be by itself"
                 : wish.node + " takes " + partition.text() + " as soon as it is ready");
}

}  // namespace

void add_cluster_nodes(const AddClusterCommand& add, const ClusterOption& cluster,
                       const std::string& format, int& exit_code) {
  const auto wish = std::make_shared<Wish>();
  const auto add_one = [&](const char* name, const char* about, auto does) {
    auto* one = add(name, about);
    one->callback([&cluster, &exit_code, does] {
      const auto settings = cluster.settings();
      exit_code = settings ? does(*settings) : misuse(settings.error());
    });
    return one;
  };
  add_one("status", "Which nodes live, and who has which partition",
          [&format](const cluster::Settings& settings) { return show_status(settings, format); });
  auto* draining = add_one("drain", "Have a node give its partitions away, and get none",
                           [&format, wish](const cluster::Settings& settings) {
                             return drain_node(settings, format, *wish);
                           });
  draining->add_option("NODE", wish->node, "Its name")->required();
  draining->add_flag("--end", wish->ends, "Have it take part again");
  auto* moving = add_one("move", "Have a node own a partition as long as it lives",
                         [&format, wish](const cluster::Settings& settings) {
                           return move_partition(settings, format, *wish);
                         });
  moving->add_option("FAMILY", wish->family, "The family of rules")->required();
  moving->add_option("PARTITION", wish->partition, "Its number")->required();
  moving->add_option("NODE", wish->node, "Who is to own it; without: whoever the hash says");
}

}  // namespace gorgo::tools
