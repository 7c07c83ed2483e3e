#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/settings.hpp"
#include "gorgo/diagnostics.hpp"

/// What brokers say of themselves. Each function asks over a connection of its own, and returns
/// when it has an answer. Any thread.
namespace gorgo::cluster {

/// What a NATS server tells whoever connects, before it asks who that is.
struct BrokerInfo {
  std::string address, name, version;
  bool has_jetstream = false;
};

/// An error: nobody answers at the address, HOST:PORT, or it is no NATS server.
Result<BrokerInfo> ask_broker(const std::string& address);

/// The copies of a stream, as its leader sees them.
struct StreamCopies {
  std::string stream;
  std::uint32_t wanted = 1;
  bool has_leader = false;
  std::vector<std::string> behind;  ///< servers whose copies are not whole, or not there
};

/// Those of all streams of a cluster.
Result<std::vector<StreamCopies>> copies_of_streams(const Settings& settings);

}  // namespace gorgo::cluster
