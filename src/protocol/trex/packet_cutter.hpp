#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "gorgo/diagnostics.hpp"
#include "protocol/stream_buffer.hpp"

namespace gorgo::protocol::trex {

/// The bytes of a packet before its body: its kind, and the length of the body.
inline constexpr std::size_t kHeader = 5;

struct Packet {
  std::uint8_t kind = 0;  ///< a `Kind`, or a value that stands for none
  std::span<const std::uint8_t> body;
};

/// Cuts a stream of bytes into packets. Memory grows with the bytes that arrived, never with the
/// length that a packet announces:
///
///     socket.read_some(cutter.space()); cutter.fill(n);
///     while (auto packet = cutter.next()) { if (!*packet) break; ... }
class PacketCutter {
 public:
  /// `max_packet`: bytes of a packet, those before its body included.
  explicit PacketCutter(std::size_t max_packet) : max_packet_(max_packet) {}

  /// Room for at least 16 KiB more; valid until the next call of another member. Packets cut before
  /// end here. When it throws bad_alloc, nothing has changed.
  std::span<std::uint8_t> space() { return buffer_.space(); }
  void fill(std::size_t size) { buffer_.fill(size); }
  /// The next whole packet, which is valid until the next `space`; nothing when more bytes are
  /// needed; or why the stream cannot be followed any further. Such an error is final.
  Result<std::optional<Packet>> next();
  /// Bytes of a packet whose end has not arrived.
  std::size_t open() const { return buffer_.unread().size(); }
  /// Bytes that it has allocated.
  std::size_t held() const { return buffer_.held(); }

 private:
  std::size_t max_packet_;
  StreamBuffer buffer_;
};

}  // namespace gorgo::protocol::trex
