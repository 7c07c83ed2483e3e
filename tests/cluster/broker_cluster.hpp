#pragma once

#include <gtest/gtest.h>
#include <nats/nats.h>

#include <array>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "door_support.hpp"
#include "doors/nats/connection.hpp"
#include "peer_support.hpp"

namespace gorgo::cluster_test {

using doors::nats::Owned;

/// Three servers of NATS as one JetStream, as processes of this machine. Each keeps its files when
/// it is killed.
class BrokerCluster {
 public:
  static constexpr std::size_t kServers = 3;

  explicit BrokerCluster(const Folder& folder) : folder_(folder) {
    for (Server& one : servers_) one = {free_port(), free_port(), nullptr};
    for (std::size_t i = 0; i < kServers; ++i) {
      write_settings(i);
      start(i);
    }
    wait_until_ready();
  }

  /// Of all servers, as the settings of doors and nodes name them.
  std::string addresses() const { return address(0) + "," + address(1) + "," + address(2); }
  std::string address(std::size_t i) const {
    return "127.0.0.1:" + std::to_string(servers_[i].port);
  }
  void start(std::size_t i) {
    servers_[i].process =
        std::make_unique<Peer>(Command{GORGO_NATS_SERVER, "-c", file(i, ".conf")});
  }
  void kill(std::size_t i) { servers_[i].process->end(SIGKILL); }
  void pause(std::size_t i) { servers_[i].process->signal(SIGSTOP); }
  void go_on(std::size_t i) { servers_[i].process->signal(SIGCONT); }

  /// The server that leads this stream; nothing: none does at the moment.
  std::optional<std::size_t> leader_of(const std::string& stream) const {
    const auto connection = connect();
    if (!connection) return std::nullopt;
    jsCtx* made = nullptr;
    if (natsConnection_JetStream(&made, connection.get(), nullptr) != NATS_OK) return std::nullopt;
    const Owned<jsCtx> context(made);
    jsStreamInfo* found = nullptr;
    if (js_GetStreamInfo(&found, made, stream.c_str(), nullptr, nullptr) != NATS_OK)
      return std::nullopt;
    const Owned<jsStreamInfo> info(found);
    if (info->Cluster == nullptr || info->Cluster->Leader == nullptr) return std::nullopt;
    return static_cast<std::size_t>(std::atoi(info->Cluster->Leader + 1));
  }
  /// A connection to one of the servers; null: there is none at the moment.
  Owned<natsConnection> connect(const std::string& addresses = "") const {
    std::vector<std::string> urls;
    std::istringstream in(addresses.empty() ? this->addresses() : addresses);
    for (std::string one; std::getline(in, one, ',');) urls.push_back("nats://" + one);
    std::vector<const char*> servers;
    for (const std::string& url : urls) servers.push_back(url.c_str());
    natsConnection* made = nullptr;
    natsOptions* options = nullptr;
    natsOptions_Create(&options);
    natsOptions_SetServers(options, servers.data(), static_cast<int>(servers.size()));
    natsOptions_SetAllowReconnect(options, false);
    natsOptions_SetTimeout(options, 2000);
    if (natsConnection_Connect(&made, options) != NATS_OK) made = nullptr;
    natsOptions_Destroy(options);
    return Owned<natsConnection>(made);
  }

 private:
  struct Server {
    int port = 0, route = 0;
    std::unique_ptr<Peer> process;
  };
  const Folder& folder_;
  std::array<Server, kServers> servers_;

  std::string file(std::size_t i, const std::string& ending) const {
    return (folder_ / ("b" + std::to_string(i) + ending)).string();
  }
  void write_settings(std::size_t i) const {
    std::ofstream out(file(i, ".conf"));
    out << "server_name: b" << i << "\nlisten: \"" << address(i) << "\"\nlog_file: \""
        << file(i, ".log") << "\"\njetstream { store_dir: \"" << file(i, "")
        << "\" }\ncluster {\n  name: test\n  listen: \"127.0.0.1:" << servers_[i].route
        << "\"\n  routes: [";
    for (const Server& one : servers_) out << "\"nats://127.0.0.1:" << one.route << "\", ";
    out << "]\n}\n";
  }
  /// Until streams of three copies can be made.
  void wait_until_ready() const {
    const Patience patience("for the brokers");
    while (patience.lasts()) {
      const auto connection = connect();
      jsCtx* made = nullptr;
      if (connection && natsConnection_JetStream(&made, connection.get(), nullptr) == NATS_OK) {
        const Owned<jsCtx> context(made);
        jsStreamConfig config;
        jsStreamConfig_Init(&config);
        config.Name = "READY";
        config.Replicas = kServers;
        const bool is_made = js_AddStream(nullptr, made, &config, nullptr, nullptr) == NATS_OK;
        if (is_made) return void(js_DeleteStream(made, "READY", nullptr, nullptr));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
};

}  // namespace gorgo::cluster_test
