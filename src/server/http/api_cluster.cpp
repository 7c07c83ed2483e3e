#include <set>
#include <string>
#include <utility>

#include "cluster/overview.hpp"
#include "server/http/api.hpp"
#include "server/http/reply_json.hpp"

// What this node knows of its cluster: /v1/cluster.
namespace gorgo::server::http {
namespace {

namespace asio = boost::asio;

Json nodes_of(const cluster::Situation& situation) {
  Json list = Json::array();
  for (const auto& [name, member] : situation.live) {
    list.push_back({{"name", name},
                    {"owns", member.owns.size()},
                    {"ready", member.ready.size()},
                    {"drained", situation.drained.contains(name)}});
  }
  return list;
}

Json here(const cluster::Partition::State& state) {
  return {{"role", state.role == cluster::Role::owner ? "owner" : "standby"},
          {"caught_up", state.has_caught_up},
          {"lag_messages", state.lag},
          {"waiting_messages", state.waiting},
          {"sequence", state.sequence},
          {"snapshot_sequence", state.snapshot},
          {"snapshot_problem", state.snapshot_problem},
          {"problem", state.problem},
          {"last_bad", state.last_bad}};
}

Json partitions_of(const cluster::Node& node, const cluster::Situation& situation) {
  const cluster::Overview overview{situation};
  const auto own = node.partitions();
  std::set<cluster::PartitionName> names;
  for (const auto& list : {node.all_partitions(), overview.partitions()}) {
    names.insert(list.begin(), list.end());
  }
  Json list = Json::array();
  for (const cluster::PartitionName& name : names) {
    const auto appointed = situation.appointed.find(name);
    Json one = {{"family", name.family},
                {"number", name.number},
                {"owners", overview.owners(name)},
                {"standbys", overview.standbys(name)},
                {"appointed", appointed == situation.appointed.end() ? "" : appointed->second},
                {"here", nullptr}};
    if (const auto state = own.find(name); state != own.end()) one["here"] = here(state->second);
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

asio::awaitable<Response> Api::show_cluster(const Call&) {
  if (hub_.node == nullptr) {
    const Problem problem{
        404, {"this server is in no cluster", "its configuration has no section [cluster]"}};
    co_return response_of(problem);
  }
  const cluster::Situation situation = hub_.node->situation();
  co_return json_response({{"cluster", hub_.node->cluster()},
                           {"node", hub_.node->name()},
                           {"problem", hub_.node->problem()},
                           {"nodes", nodes_of(situation)},
                           {"partitions", partitions_of(*hub_.node, situation)}});
}

}  // namespace gorgo::server::http
