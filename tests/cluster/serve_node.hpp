#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "door_support.hpp"

namespace gorgo::cluster_test {

/// A node of the cluster "c" as an operator has it: `gorgo serve` with [cluster], which keeps its
/// journal when it is killed.
class ServeNode {
 public:
  /// `options`: of `gorgo serve`.
  ServeNode(const Folder& folder, const std::string& brokers, std::string name, int partitions,
            int replicas, const std::string& program = GORGO_BINARY,
            std::vector<std::string> options = {"--log-level", "off"})
      : folder_(folder), name_(std::move(name)), options_(std::move(options)) {
    // It takes late composites: tests stop brokers and nodes for long.
    config_ = "[journal]\npath = \"" + (folder_ / name_).string() +
              "\"\nbacklog_policy = \"refuse\"\n[engine]\nmax_late_ms = 600000\n[cluster]\n"
              "name = \"c\"\nnode = \"" +
              name_ + "\"\nbrokers = \"" + brokers +
              "\"\npartitions = " + std::to_string(partitions) +
              "\nreplicas = " + std::to_string(replicas) + "\n";
    start(program);
  }
  /// `program`: that of another version does not know all keys.
  void start(const std::string& program = GORGO_BINARY) {
    const bool is_ours = program == GORGO_BINARY;
    folder_.write(name_ + ".toml", config_ + (is_ours ? "snapshot_bytes = 20000\n" : ""));
    std::vector<std::string> arguments{"serve", "--listen", "127.0.0.1:0", "--config", config()};
    arguments.insert(arguments.end(), options_.begin(), options_.end());
    auto process = std::make_unique<Process>(arguments, 0, program);
    const std::string address = address_in(process->out_line());
    const std::lock_guard lock(mutex_);
    process_ = std::move(process);
    address_ = address;
  }
  void kill() {
    process_->signal(SIGKILL);
    process_->wait();
  }
  int end() {
    process_->signal(SIGTERM);
    return process_->wait();
  }
  void signal(int number) { process_->signal(number); }
  /// The next line of its log that contains `text`.
  std::string log_line(const std::string& text) { return process_->err_line(text); }

  const std::string& name() const { return name_; }
  std::string config() const { return (folder_ / (name_ + ".toml")).string(); }
  /// Where it listens, or did when it was killed.
  std::string address() const {
    const std::lock_guard lock(mutex_);
    return address_;
  }
  Client client() const {
    auto client = Client::connect(address());
    EXPECT_TRUE(client) << client.error().to_string();
    return std::move(*client);
  }
  /// Waits until both of its ways to the brokers work.
  void wait_for_doors() const {
    auto asking = client();
    for (const char* const name : {"cluster in", "cluster out"}) {
      wait_for_door(asking, name, [](const Door& door) { return door.state == "running"; });
    }
  }

 private:
  const Folder& folder_;
  const std::string name_;
  const std::vector<std::string> options_;
  std::string config_;
  mutable std::mutex mutex_;  // guards `address_`, which other threads ask for
  std::string address_;
  std::unique_ptr<Process> process_;
};

/// Deploys as an operator does, on the configuration of the node.
inline void deploy_from(const Folder& folder, const ServeNode& node, const std::string& text) {
  folder.write("rules.tesla", text);
  Process deploying(
      {"cluster", "deploy", (folder / "rules.tesla").string(), "--config", node.config()});
  ASSERT_EQ(deploying.wait(), 0) << deploying.err_line();
}

}  // namespace gorgo::cluster_test
