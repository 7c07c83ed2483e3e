#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cluster/ownership.hpp"
#include "doors/nats/connection.hpp"
#include "doors/nats/stream_reader.hpp"

namespace gorgo::cluster {

/// The lease bucket of a cluster: who lives and what people want. Nodes renew their leases each
/// second, and one that has been silent for three counts as dead. All of it is hints, because the
/// broker may lose or delay them: output streams keep exact who publishes. One thread.
class Membership {
 public:
  static constexpr std::chrono::milliseconds kRenewal{1000};
  static constexpr std::chrono::milliseconds kLease{3000};

  explicit Membership(const std::string& cluster);

  /// Begins to read the bucket, which is made unless there is one. To be called with each new
  /// connection and behind each failure.
  Result<void> open(const doors::nats::Connection& connection, std::uint32_t replicas);
  /// Whether there is such a bucket, as far as the brokers say.
  bool exists(const doors::nats::Connection& connection);
  bool is_open() const { return reader_.has_begun(); }
  /// Takes what has come, waiting for it for so long at most.
  Result<void> read(std::chrono::milliseconds patience);
  /// Whether all that the bucket had when this was asked first was read. Leases come all the time,
  /// so a moment at which nothing is left may never be seen.
  Result<bool> has_read_all();
  void close() { reader_.end(); }

  /// By node, those whose leases hold.
  std::map<std::string, Member> live() const;
  /// Whether each node of which the bucket has a lease has renewed it since reading began. The
  /// lease of a node that died stays there, so that this never holds.
  bool have_all_renewed() const;
  const std::set<std::string>& drained() const { return drained_; }
  const std::map<PartitionName, std::string>& appointed() const { return appointed_; }

  /// Sends, and does not wait until the bucket has it: it is sent again a second later.
  Result<void> renew(natsConnection* connection, const std::string& node, const Member& member);
  /// Says that the node has ended, so that nobody waits until its lease is over.
  void leave(natsConnection* connection, const std::string& node);
  /// Has a node give away what it has, or take part again. Returns when the bucket has it.
  Result<void> drain(natsConnection* connection, const std::string& node, bool drained);
  /// Has a node own a partition; an empty name: whoever should by the hash.
  Result<void> appoint(natsConnection* connection, const PartitionName& partition,
                       const std::string& node);

 private:
  using Clock = std::chrono::steady_clock;
  struct Lease {
    Member member;
    Clock::time_point heard;
    bool is_renewed = false;  // it came again: the bucket hands out the last value of a key once
  };

  const std::string bucket_, prefix_;
  doors::nats::StreamReader reader_;
  std::optional<std::uint64_t> to_read_;  // messages, before all has been read
  std::map<std::string, Lease> leases_;   // by node
  std::set<std::string> drained_;
  std::map<PartitionName, std::string> appointed_;

  void take(std::string_view key, std::string_view value);
  Result<void> put(natsConnection* connection, const std::string& key, const std::string& value);
};

}  // namespace gorgo::cluster
