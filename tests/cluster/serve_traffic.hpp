#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cluster/partition_of.hpp"
#include "serve_node.hpp"

// What clients of nodes that die publish, and what they have to get.
namespace gorgo::cluster_test {

/// Each composite tells of the event before it of the key, so it says whether the state of the
/// partition was whole. The second rule is in the family `whole`.
inline constexpr const char* kTrafficRules =
    "event A(k: string, v: int);\n"
    "event B(k: string, v: int);\n"
    "rule each: define Each(k: string, v: int, before: int)\n"
    "  from A(k = $k) as now and last A(k = $k) as before within 1 h from now\n"
    "  where k = $k, v = now.v, before = before.v;\n"
    "rule all: define All(k: string, v: int, before: int)\n"
    "  from B() as now and last B() as before within 1 h from now\n"
    "  where k = now.k, v = now.v, before = before.v;\n";

/// A key of a publisher, whose events are in this partition.
inline std::string key_in(int publisher, std::uint32_t partition, std::uint32_t partitions) {
  for (int i = 0;; ++i) {
    const std::string key = "p" + std::to_string(publisher) + "-" + std::to_string(i);
    if (cluster::partition_of(key, partitions) == partition) return key;
  }
}

/// Publishes numbers to one node, each once, for a key of each partition.
class Publisher {
 public:
  Publisher(const ServeNode& node, int number, std::uint32_t partitions)
      : node_(node), number_(number), partitions_(partitions), thread_([this] { run(); }) {}
  ~Publisher() { end(); }
  void end() {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
  }
  /// By type of the composites and key, the last number. Precondition: it has ended.
  const std::map<std::string, std::int64_t>& last() const { return last_; }
  std::uint64_t events() const { return events_; }

 private:
  const ServeNode& node_;
  const int number_;
  const std::uint32_t partitions_;
  std::atomic<bool> ended_ = false;
  std::map<std::string, std::int64_t> last_;
  std::uint64_t events_ = 0;
  std::thread thread_;

  std::vector<Event> batch() {
    std::vector<Event> all;
    for (int i = 0; i < 4; ++i) {
      for (std::uint32_t p = 0; p < partitions_; ++p) {
        const std::string key = key_in(number_, p, partitions_);
        all.push_back({"A", std::nullopt, {{"k", key}, {"v", ++last_["Each " + key]}}});
      }
      // One alone publishes them, because their order is that of one publisher.
      if (number_ == 0) all.push_back({"B", std::nullopt, {{"k", "b"}, {"v", ++last_["All b"]}}});
    }
    events_ += all.size();
    return all;
  }
  void run() {
    std::uint64_t sequence = 0;
    while (!ended_) {
      publish(batch(), ++sequence);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  /// Until the node says that it has them.
  void publish(const std::vector<Event>& events, std::uint64_t sequence) const {
    const Patience patience("for " + node_.name() + " to take events");
    std::string problem;
    while (patience.lasts()) {
      auto client =
          Client::connect(node_.address(), {.producer = static_cast<std::uint64_t>(number_) + 1});
      const auto published =
          client
              ? client->publish(events, {.acknowledge = Acknowledge::durable, .sequence = sequence})
              : client.error();
      if (published) {
        EXPECT_EQ(published->refused, 0u) << published->refusals[0].reason;
        return;
      }
      problem = published.error().to_string();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << node_.address() << ": " << problem;
  }
};

/// A durable subscriber of one node, who notes what is lost, doubled or out of order.
class Subscriber {
 public:
  explicit Subscriber(const ServeNode& node) : node_(node), thread_([this] { run(); }) {}
  ~Subscriber() { end(); }
  void end() {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
  }
  bool is_subscribed() const { return is_subscribed_; }
  std::size_t received() const { return received_; }
  /// By type and key, the last number. Precondition: it has ended.
  const std::map<std::string, std::int64_t>& last() const { return last_; }

 private:
  const ServeNode& node_;
  std::atomic<bool> ended_ = false, is_subscribed_ = false;
  std::atomic<std::size_t> received_ = 0;
  std::set<Place> places_;
  std::map<std::string, std::int64_t> last_;
  std::thread thread_;

  void run() {
    while (!ended_) {
      auto client = Client::connect(node_.address());
      const auto subscribed = client && client->subscribe("Each", {.durable = "each"}) &&
                              client->subscribe("All", {.durable = "all"});
      is_subscribed_ = is_subscribed_ || subscribed;
      if (!subscribed) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      while (subscribed && !ended_) {
        constexpr Duration kPatience = 100'000'000;
        const auto delivery = client->next(kPatience);
        if (!delivery) break;
        if (!*delivery) continue;
        take(**delivery);
        if (received_ % 500 > 0) continue;
        const std::string durable = (*delivery)->event.type == "Each" ? "each" : "all";
        if (!client->acknowledge(durable, (*delivery)->place)) break;
      }
    }
  }
  void take(const Delivery& delivery) {
    EXPECT_EQ(delivery.lost_before.events, 0u);
    // A durable subscription gives what is not acknowledged again when its client comes back.
    if (!places_.insert(delivery.place).second) return;
    const auto& attributes = delivery.event.attributes;
    const std::string key = delivery.event.type + " " + std::get<std::string>(attributes[0].value);
    const auto value = std::get<std::int64_t>(attributes[1].value);
    const auto before = std::get<std::int64_t>(attributes[2].value);
    std::int64_t& last = last_[key];
    if (last == 0) last = 1;  // the first event has none before it
    EXPECT_EQ(value, last + 1) << "lost, doubled or out of order: " << key;
    EXPECT_EQ(before, value - 1) << "the partition had lost its state: " << key;
    last = value;
    ++received_;
  }
};

}  // namespace gorgo::cluster_test
