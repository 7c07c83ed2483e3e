#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/node.hpp"
#include "gorgo/action.hpp"
#include "gorgo/door.hpp"
#include "protocol/gorgo_generated.h"
#include "server/security/accounts.hpp"
#include "server/server_counters.hpp"
#include "server/sessions/closed_connections.hpp"

namespace gorgo::server::http {

/// Rules, types and users beyond these have no metrics of their own: each would be several time
/// series.
inline constexpr std::uint32_t kMostSeries = 1000;

/// The server's numbers in Prometheus' text format. Names begin with `gorgo_`, and those of what
/// only rises end in `_total`.
class Metrics {
 public:
  void add(const wire::Statistics& statistics, const ServerCounters& server);
  void add(const std::vector<ConnectionInfo>& connections);
  void add(const ClosedConnections& closed);
  void add(const Accounts& accounts);
  void add(const std::vector<Door>& doors);
  void add(const std::vector<ActionTarget>& targets);
  void add(const cluster::Node& node);
  void add(const wire::RuleInfo& rule);
  void add(const wire::TypeInfo& type);
  void add(const wire::Devices& devices);
  /// So many rules or types have no series of their own.
  void left_out(const char* of, std::uint64_t count);
  /// What was added, once.
  std::string text();

 private:
  using Label = std::pair<std::string, std::string>;
  std::vector<prometheus::MetricFamily> families_;
  std::map<std::string, std::uint64_t> rules_by_engine_;

  prometheus::MetricFamily& family(const std::string& name, std::string_view help, bool gauge);
  void add_histogram(const wire::Histogram& histogram);
  void put(const std::string& name, std::string_view help, bool gauge, double value,
           const std::vector<Label>& labels = {});
};

}  // namespace gorgo::server::http
