#include "tools/cluster_findings.hpp"

#include <cstdio>
#include <map>
#include <sstream>
#include <utility>

#include "cluster/broker_info.hpp"
#include "cluster/deploy.hpp"
#include "cluster/overview.hpp"

namespace gorgo::tools {
namespace {

/// Before 2.10 there is no setting by which messages are on the disk when they are acknowledged.
bool syncs_on_demand(const std::string& version) {
  int major = 0, minor = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &major, &minor) != 2) return false;
  return major > 2 || (major == 2 && minor >= 10);
}

/// Looks at the parts one after the other.
class ClusterExamination {
 public:
  explicit ClusterExamination(const cluster::Settings& settings) : settings_(settings) {}

  Result<std::vector<std::string>> findings() {
    look_at_brokers();
    const auto deployment = cluster::deployed(settings_);
    if (!deployment) return deployment.error();
    if (deployment->version == 0) {
      say("No rules were ever deployed to the cluster " + settings_.name +
          ": gorgo cluster deploy FILE.");
    }
    if (auto looked = look_at_streams(); !looked) return looked.error();
    if (auto looked = look_at_nodes(*deployment); !looked) return looked.error();
    return std::move(findings_);
  }

 private:
  const cluster::Settings& settings_;
  std::vector<std::string> findings_;

  void say(std::string sentence) { findings_.push_back(std::move(sentence)); }

  void look_at_brokers() {
    std::map<std::string, std::string> by_version;
    std::istringstream brokers(settings_.brokers);
    for (std::string address; std::getline(brokers, address, ',');) {
      const auto info = cluster::ask_broker(address);
      if (!info) {
        say(info.error().message + "; " + info.error().hint + ".");
        continue;
      }
      if (!info->has_jetstream) {
        say("The broker " + address +
            " has no JetStream: give its configuration a section jetstream.");
      }
      std::string& same = by_version[info->version];
      same += (same.empty() ? "" : ", ") + address;
    }
    for (const auto& [version, addresses] : by_version) tell_promise(version, addresses);
  }

  void tell_promise(const std::string& version, const std::string& addresses) {
    const std::string who = addresses + ": nats-server " + version;
    if (syncs_on_demand(version)) {
      say(who +
          " writes to the disk now and then, unless its jetstream has sync_interval: always, "
          "which it does not tell. Without that, what most copies of a stream have "
          "acknowledged may be lost when their machines lose power together. Processes that "
          "die lose nothing.");
      return;
    }
    say(who +
        " writes to the disk once a minute, and has no setting for that. What most copies of "
        "a stream have acknowledged may be lost when their machines lose power in the same "
        "minute. Processes that die lose nothing. From 2.10 on there is sync_interval: always.");
  }

  Result<void> look_at_streams() {
    const auto all = cluster::copies_of_streams(settings_);
    if (!all) return all.error();
    std::size_t single = 0;
    for (const auto& copies : *all) {
      if (copies.wanted == 1) ++single;
      if (!copies.has_leader)
        say("The stream " + copies.stream + " has no leader: start its brokers.");
      for (const std::string& broker : copies.behind) {
        say("The copy of the stream " + copies.stream + " at " + broker +
            " is not whole: look whether the broker runs, or give it time.");
      }
    }
    if (single > 0) {
      say(std::to_string(single) +
          " streams have one copy: while its broker is away nobody gets "
          "composites, and what is lost with its disk is lost. With three brokers, set replicas = "
          "3 "
          "before the first deployment, or have each stream copied: nats stream edit --replicas "
          "3.");
    }
    return {};
  }

  Result<void> look_at_nodes(const cluster::Deployment& deployment) {
    const auto seen = cluster::look_at(broker_settings(settings_), settings_.name);
    if (!seen) return seen.error();
    const auto& situation = seen->situation;
    std::size_t orphans = 0;
    for (const auto& name : deployment.partition_names()) orphans += seen->owners(name).empty();
    if (orphans > 0) {
      say(std::to_string(orphans) +
          " partitions have no owner, so their composites wait. A node "
          "takes them within some seconds, if one is there that is not drained.");
    }
    for (const auto& [partition, why] : seen->stuck()) {
      say("The partition " + partition.text() + " stands still, and its composites wait: " + why +
          ".");
    }
    if (situation.live.size() == 1) {
      say("There is one node: while it is away, nobody evaluates.");
    }
    for (const std::string& node : situation.drained) {
      say("The node " + node + " is drained and takes no partition: gorgo cluster drain --end " +
          node + " has it take part again.");
    }
    return {};
  }
};

}  // namespace

Result<std::vector<std::string>> findings_about_cluster(const cluster::Settings& settings) {
  return ClusterExamination(settings).findings();
}

}  // namespace gorgo::tools
