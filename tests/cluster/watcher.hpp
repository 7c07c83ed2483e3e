#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "broker_cluster.hpp"

namespace gorgo::cluster_test {

/// Sees when partitions of a family of the cluster "c" publish, and by which node.
class Watcher {
 public:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    Clock::time_point at;
    std::string node;
  };

  Watcher(const BrokerCluster& brokers, int partitions, const std::string& family = "f")
      : brokers_(brokers),
        subjects_("gorgo.c.out." + family + ".*"),
        seen_(static_cast<std::size_t>(partitions)) {
    EXPECT_TRUE(subscribe());
    thread_ = std::thread([this] { run(); });
  }
  ~Watcher() {
    ended_ = true;
    thread_.join();
    connection_.reset();  // before the subscription
  }
  std::string last_writer(std::size_t partition) {
    const std::lock_guard lock(mutex_);
    return seen_[partition].empty() ? "" : seen_[partition].back().node;
  }
  /// How long after this moment somebody else than `node` published.
  std::optional<std::chrono::milliseconds> until_another(std::size_t partition,
                                                         const std::string& node,
                                                         Clock::time_point from) {
    const std::lock_guard lock(mutex_);
    for (const Seen& one : seen_[partition]) {
      if (one.at < from || one.node == node) continue;
      return std::chrono::duration_cast<std::chrono::milliseconds>(one.at - from);
    }
    return std::nullopt;
  }

 private:
  const BrokerCluster& brokers_;
  const std::string subjects_;
  std::mutex mutex_;  // guards `seen_`
  std::vector<std::vector<Seen>> seen_;
  std::atomic<bool> ended_ = false;
  Owned<natsConnection> connection_;
  Owned<natsSubscription> subscription_;
  std::thread thread_;

  bool subscribe() {
    connection_.reset();
    subscription_.reset();
    connection_ = brokers_.connect();
    natsSubscription* made = nullptr;
    if (connection_) {
      natsConnection_SubscribeSync(&made, connection_.get(), subjects_.c_str());
      subscription_.reset(made);
    }
    return made != nullptr;
  }
  void run() {
    while (!ended_) {
      natsMsg* came = nullptr;
      const auto status = natsSubscription_NextMsg(&came, subscription_.get(), 100);
      if (status != NATS_OK) {
        if (status != NATS_TIMEOUT) subscribe();  // a broker may have died
        continue;
      }
      const Owned<natsMsg> message(came);
      const char* node = nullptr;
      natsMsgHeader_Get(came, "Gorgo-Node", &node);
      const std::string subject = natsMsg_GetSubject(came);
      const auto partition = std::stoul(subject.substr(subject.rfind('.') + 1));
      const std::lock_guard lock(mutex_);
      seen_[partition].push_back({Clock::now(), node == nullptr ? "" : node});
    }
  }
};

}  // namespace gorgo::cluster_test
