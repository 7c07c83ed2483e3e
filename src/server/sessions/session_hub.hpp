#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "server/command_queue.hpp"
#include "server/durability/start_progress.hpp"
#include "server/log.hpp"
#include "server/log_limit.hpp"
#include "server/security/accounts.hpp"
#include "server/security/doorkeeper.hpp"
#include "server/security/network_counts.hpp"
#include "server/server_counters.hpp"
#include "server/sessions/client_totals.hpp"
#include "server/sessions/closed_connections.hpp"
#include "server/sessions/connection_news.hpp"

namespace gorgo::cluster {
class Node;
}

namespace gorgo::server {

class ActionTargets;
class Doors;
class Session;

/// What all sessions share. Belongs to the I/O thread, except where a member says otherwise.
struct SessionHub {
  boost::asio::io_context& io;
  const ServerOptions& options;
  Log& log;
  CommandQueue& queue;
  ClientTotals& totals;
  Doorkeeper& doorkeeper;
  Accounts& accounts;
  ConnectionNews& news;
  std::function<void(Session&)> on_end;  ///< the session is over and may be forgotten
  std::function<ServerCounters()> counters;
  /// Takes over the configuration as it is now. An error: nothing was changed.
  std::function<Result<std::unique_ptr<Reload>>(std::uint64_t asker)> begin_reload = {};
  ClosedConnections closed = {};
  NetworkCounts newcomers = {};  ///< connections that have not yet said who they are
  std::function<std::vector<ConnectionInfo>()> connections;
  Doors* doors = nullptr;
  ActionTargets* actions = nullptr;
  const cluster::Node* node = nullptr;  ///< null: the server is in no cluster
  /// Ends the connection of this number on behalf of an operator. An error: there is none.
  std::function<Result<void>(std::uint64_t)> disconnect = {};
  /// Set while the server starts: requests that need the engine are refused.
  const StartProgress* starts = nullptr;
  /// Set while the server is about to stop and still serves: when it stops. docs/server.md
  std::optional<std::chrono::steady_clock::time_point> stops_at = {};
  std::atomic<std::uint64_t> malformed = 0;         ///< frames and messages refused; read anywhere
  std::atomic<std::uint64_t> stalled_reads = 0;     ///< a reader waited for room; read anywhere
  std::atomic<std::uint64_t> dropped_requests = 0;  ///< their client had gone; read anywhere
  /// Rules and subscriptions of T-Rex that were not taken; read anywhere.
  std::atomic<std::uint64_t> refused_trex = 0;
  std::atomic<std::uint64_t> failed_handshakes = 0;  ///< of TLS; read anywhere
  LogLimit handshake_log = {};
  LogLimit stranger_log = {};  ///< what clients do wrong that have not said who they are
  std::atomic<std::uint64_t> forbidden = 0;  ///< requests of users who may not; read anywhere
};

}  // namespace gorgo::server
