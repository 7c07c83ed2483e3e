#pragma once

#include <cstdint>
#include <string>

#include "doors/settings.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::cluster {

/// Which cluster, and as what one takes part in it: `[cluster]` of a configuration. docs/cluster.md
struct Settings {
  std::string name;  ///< of the cluster, as `check_name` takes it; empty: there is none
  std::string node;  ///< of whoever takes part, which no other one in the cluster has
  std::string brokers = "127.0.0.1:4222";  ///< HOST:PORT, or several with commas between
  std::string user, password_file, ca;     ///< as for doors that speak NATS

  // The first deployment to a cluster takes these; later ones keep what it took.
  std::uint32_t partitions = 64;    ///< of a family, 1 at least
  std::uint32_t replicas = 1;       ///< of each stream
  std::uint64_t retain_hours = 24;  ///< that input streams keep events

  /// How many bytes of input messages a partition takes from one snapshot to the next; 0: it has no
  /// snapshots.
  std::uint64_t snapshot_bytes = std::uint64_t{16} << 20;

  bool standby = true;  ///< a second node evaluates each partition, and takes over at once

  bool is_on() const { return !name.empty(); }
};

/// Whether one can take part with these. An error names the key that is wrong.
Result<void> check(const Settings& settings);

/// What a connection to the brokers needs.
doors::Settings broker_settings(const Settings& settings);

}  // namespace gorgo::cluster
