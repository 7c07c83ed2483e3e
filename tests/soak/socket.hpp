#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "protocol/framing.hpp"

namespace gorgo::soak {

/// A TCP connection to a loopback port that can be abused: it sends any bytes, waits for nothing
/// longer than a second, and takes every failure for the end of the connection.
///
/// Thread-safety: one thread at a time.
class Socket {
 public:
  explicit Socket(std::uint16_t port);
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;

  bool is_open() const { return descriptor_ >= 0; }

  /// False: the server has closed the connection, or has read nothing for a second.
  bool send(std::span<const std::uint8_t> bytes);
  template <class Body>
  bool send(std::uint64_t id, const Body& body) {
    return send(protocol::encode(id, body));
  }
  /// The next frame; nothing when the connection is closed or nothing came for a second.
  std::optional<protocol::Bytes> receive();
  /// Says Hello and waits for the Welcome.
  bool greet();
  /// Closes the connection by a reset, which throws away what either side has not read.
  void reset();

 private:
  int descriptor_ = -1;

  void close();
  bool receive(std::span<std::uint8_t> bytes);
};

}  // namespace gorgo::soak
