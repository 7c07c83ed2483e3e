#pragma once

#include <cstdint>
#include <string>

namespace gorgo {

/// A connection of a server, as its operators see it.
struct ClientConnection {
  std::uint64_t id = 0;
  std::string peer;           ///< address and port
  std::string dialect;        ///< what it speaks: "native", "http", "websocket", "trex"
  std::string name;           ///< what the client calls itself; may be empty
  std::string user;           ///< empty: nobody was asked
  double seconds = 0;         ///< that it is open, or was
  std::uint64_t bytes = 0;    ///< that it has the server hold
  std::uint64_t backlog = 0;  ///< those of them that wait for the client to read them
  std::uint32_t subscriptions = 0;
  std::uint64_t published = 0;                                ///< events that it has sent
  std::uint64_t delivered = 0;                                ///< events that were written to it
  double published_per_second = 0, delivered_per_second = 0;  ///< of late
  std::string reason;          ///< why it has ended, in a word; empty: it is open
  std::string detail;          ///< the same for people; may be empty
  std::int64_t closed_ms = 0;  ///< when, milliseconds since the Unix epoch
};

}  // namespace gorgo
