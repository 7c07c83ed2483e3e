#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gorgo::server {

struct ServerCounters {
  std::uint64_t sessions = 0;            ///< opened so far
  std::uint64_t refused_sessions = 0;    ///< above max_sessions or max_newcomers
  std::uint64_t malformed = 0;           ///< frames and messages that broke the protocol
  std::uint64_t stalled_reads = 0;       ///< times a session stopped reading for backpressure
  std::uint64_t slow_consumers = 0;      ///< disconnected
  std::uint64_t lost_rows = 0;           ///< deliveries that subscribers did not get
  std::uint64_t dropped_requests = 0;    ///< not carried out because their client had gone
  std::uint64_t memory_bytes = 0;        ///< that all clients hold
  std::uint64_t queue_bytes = 0;         ///< of requests that wait for the engine
  std::uint64_t malformed_lines = 0;     ///< event lines of HTTP that were none
  std::int64_t certificate_expires = 0;  ///< seconds since the Unix epoch; 0: there is none
  std::uint64_t failed_handshakes = 0;   ///< of TLS: abandoned, in the clear, or not trusted
  std::uint64_t failed_logins = 0;       ///< the user, the password or the token was wrong
  std::uint64_t hashed_passwords = 0;    ///< of logins, whatever their outcome
  std::uint64_t forbidden_requests = 0;  ///< of users who lack the permission
  std::uint64_t subscriber_waits = 0;    ///< times publishers waited for a slow subscriber
  bool is_read_only = false;             ///< nothing is taken, because the journal has failed
};

/// A connection as operators see it.
struct ConnectionInfo {
  std::uint64_t id = 0;
  std::string peer;
  std::string_view dialect;
  double seconds = 0;         ///< since it was opened
  std::uint64_t bytes = 0;    ///< that it has the server hold
  std::string name;           ///< what the client calls itself; may be empty
  std::string user;           ///< empty: nobody was asked
  std::uint64_t backlog = 0;  ///< bytes that wait for the client to read them
  std::uint32_t subscriptions = 0;
  std::uint64_t published = 0;                                ///< events that it has sent
  std::uint64_t delivered = 0;                                ///< events that were written to it
  double published_per_second = 0, delivered_per_second = 0;  ///< of late
};

}  // namespace gorgo::server
