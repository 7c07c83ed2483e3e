#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "server/server_counters.hpp"

namespace gorgo::server {

/// Why a connection has ended.
enum class EndReason : std::uint8_t {
  client_left,   ///< it closed its side
  completed,     ///< nothing was left to do, as behind an HTTP response with `Connection: close`
  broken,        ///< the network or the client's system broke it
  handshake,     ///< TLS could not be agreed on
  refused,       ///< there were too many connections, of all or from its address
  forbidden,     ///< its user may not come in, or no longer as before
  malformed,     ///< it broke the protocol
  timed_out,     ///< what was due from it did not come
  slow,          ///< too much waited for it
  memory,        ///< all clients together held too much memory, and it most
  undrained,     ///< it did not read what was left for it
  stopped,       ///< the server ended
  failed,        ///< an error inside the server
  disconnected,  ///< an operator ended it
  withdrawn,     ///< its durable subscription was ended, or another connection took it over
};
inline constexpr std::size_t kEndReasons = 15;

/// As operators read it: "client_left".
std::string_view name_of(EndReason reason);

/// A connection that is no more.
struct ClosedConnection {
  ConnectionInfo connection;
  EndReason reason = EndReason::completed;
  std::string detail;  ///< for people; may be empty
  std::chrono::system_clock::time_point at = std::chrono::system_clock::now();
};

/// The connections that ended last, and how many ended for which reason. One thread at a time.
class ClosedConnections {
 public:
  static constexpr std::size_t kMost = 10'000;

  /// Forgets the one that ended first when there are `kMost`. Long details are cut, so that all
  /// together take a few megabytes at most.
  void add(ClosedConnection closed);
  /// The one that ended last comes last.
  const std::deque<ClosedConnection>& last() const { return last_; }
  /// How many have ended for the reason since the server started.
  std::uint64_t count(EndReason reason) const { return counts_[static_cast<std::size_t>(reason)]; }

 private:
  std::deque<ClosedConnection> last_;
  std::array<std::uint64_t, kEndReasons> counts_ = {};
};

}  // namespace gorgo::server
