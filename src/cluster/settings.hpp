#pragma once

#include <cstdint>
#include <string>

#include "doors/settings.hpp"

namespace gorgo::cluster {

/// Which cluster, and as what one takes part in it.
struct Settings {
  std::string name;  ///< of the cluster, as `check_name` takes it
  std::string node;  ///< of whoever takes part, which no other one in the cluster has
  std::string brokers = "127.0.0.1:4222";  ///< HOST:PORT, or several with commas between
  std::string user, password_file, ca;     ///< as for doors that speak NATS

  // Of a cluster that is deployed to for the first time.
  std::uint32_t partitions = 64;    ///< of a family, 1 at least
  std::uint32_t replicas = 1;       ///< of each stream
  std::uint64_t retain_hours = 24;  ///< that input streams keep events
};

/// What a connection to the brokers needs.
doors::Settings broker_settings(const Settings& settings);

}  // namespace gorgo::cluster
