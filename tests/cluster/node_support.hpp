#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "partition_support.hpp"
#include "watcher.hpp"

namespace gorgo::cluster_test {

/// A node as a process, with links of its own to each of the brokers.
class NodeProcess {
 public:
  NodeProcess(const BrokerCluster& brokers, const Folder& folder, std::string name, int partitions,
              bool warm)
      : name_(std::move(name)) {
    for (std::size_t i = 0; i < BrokerCluster::kServers; ++i) {
      links_[i] = std::make_unique<Network>(brokers.address(i));
    }
    command_ = {GORGO_CLUSTER_NODE,
                links_[0]->address() + "," + links_[1]->address() + "," + links_[2]->address(),
                "c",
                name_,
                "f",
                std::to_string(partitions),
                warm ? "warm" : "cold",
                (folder / name_).string()};
    start();
  }
  const std::string& name() const { return name_; }
  void start() { process_ = std::make_unique<Peer>(command_); }
  void kill() { process_->end(SIGKILL); }
  int end() {
    process_->signal(SIGTERM);
    return process_->wait();
  }
  void pause() { process_->signal(SIGSTOP); }
  void go_on() { process_->signal(SIGCONT); }
  void cut() {
    for (const auto& link : links_) link->cut();
  }

 private:
  const std::string name_;
  std::array<std::unique_ptr<Network>, BrokerCluster::kServers> links_;
  Command command_;
  std::unique_ptr<Peer> process_;
};

/// A cluster of nodes with its gateways, one for each partition, and what came out.
class TestCluster {
 public:
  TestCluster(const BrokerCluster& brokers, int partitions)
      : streams_(brokers), reading_(brokers), partitions_(partitions) {
    streams_.make(cluster::input_stream("c", "f"), cluster::input_subjects("c", "f"));
    for (int p = 0; p < partitions; ++p) {
      const auto number = static_cast<std::uint32_t>(p);
      streams_.make(cluster::output_stream("c", "f", number),
                    cluster::output_subject("c", "f", number));
      gateways_.push_back(std::make_unique<Gateway>(streams_, "c", "f", number));
      gateways_.back()->publish_rules();
    }
  }
  ~TestCluster() { end(); }

  /// Publishes to all partitions in turn, resting so long after each turn.
  void publish(std::chrono::milliseconds rest) {
    publisher_ = std::thread([this, rest] {
      while (!ended_) {
        for (auto& gateway : gateways_) gateway->publish_some();
        ++turns_;
        std::this_thread::sleep_for(rest);
      }
    });
  }
  void publish_turns(int turns) {
    for (int i = 0; i < turns; ++i) {
      for (auto& gateway : gateways_) gateway->publish_some();
    }
  }
  void end() {
    ended_ = true;
    if (publisher_.joinable()) publisher_.join();
  }
  /// That the output streams have each composite once and in order, and no other.
  void check() {
    std::uint64_t events = 0;
    std::size_t composites = 0;
    for (int p = 0; p < partitions_; ++p) {
      const Gateway& gateway = *gateways_[static_cast<std::size_t>(p)];
      Composites out(reading_, cluster::output_stream("c", "f", static_cast<std::uint32_t>(p)));
      out.wait_for(gateway.expected().size());
      const auto& got = out.read();
      EXPECT_EQ(got.size(), gateway.expected().size()) << "partition " << p;
      EXPECT_TRUE(got == gateway.expected()) << "partition " << p;
      events += gateway.events();
      composites += got.size();
    }
    std::printf("%llu events, %zu composites, each once\n", static_cast<unsigned long long>(events),
                composites);
  }
  /// Messages that were published, for each partition.
  long turns() const { return turns_; }

 private:
  Streams streams_, reading_;
  const int partitions_;
  std::vector<std::unique_ptr<Gateway>> gateways_;
  std::atomic<bool> ended_ = false;
  std::atomic<long> turns_ = 0;
  std::thread publisher_;
};

}  // namespace gorgo::cluster_test
