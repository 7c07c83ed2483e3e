#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/deployment.hpp"
#include "doors/nats/connection.hpp"

namespace gorgo::cluster {

/// The plan bucket of a cluster: the deployment in force, and which deployment each gateway
/// follows. One thread.
class PlanStore {
 public:
  explicit PlanStore(const std::string& cluster) : cluster_(cluster) {}
  ~PlanStore() { close(); }
  PlanStore(const PlanStore&) = delete;
  PlanStore& operator=(const PlanStore&) = delete;

  struct Found {
    Deployment deployment;
    std::uint64_t revision = 0;  ///< of the key; 0: there is none yet
  };
  /// What a gateway has said of itself last.
  struct Gateway {
    std::uint64_t version = 0;   ///< of the deployment that it follows
    std::uint64_t revision = 0;  ///< changes with each word of it, about once a second
  };

  /// Opens the bucket. False: there is none, so nothing was ever deployed.
  Result<bool> open(natsConnection* connection);
  /// Makes the bucket, unless there is one, and opens it.
  Result<void> make(natsConnection* connection, std::uint32_t replicas);
  bool is_open() const { return bucket_ != nullptr; }
  void close();

  // Precondition of these: it is open.

  /// The deployment in force. Without one its version is 0.
  Result<Found> read() const;
  /// Puts a deployment in force. An error: another one has come since that revision.
  Result<void> replace(const Deployment& deployment, std::uint64_t revision);
  /// Says that everything this gateway sends from now on goes where that deployment says.
  Result<void> confirm(const std::string& node, std::uint64_t version);
  /// By node.
  Result<std::map<std::string, Gateway>> gateways() const;

 private:
  const std::string cluster_;
  doors::nats::Owned<jsCtx> context_;
  kvStore* bucket_ = nullptr;

  Result<void> open_context(natsConnection* connection);
  Error in_bucket(natsStatus status) const;
  /// Those whose gateways have said anything.
  Result<std::vector<std::string>> nodes() const;
  struct Value {
    std::string text;
    std::uint64_t revision = 0;
  };
  /// Unset: there is no such key.
  Result<std::optional<Value>> get(const std::string& key) const;
};

}  // namespace gorgo::cluster
