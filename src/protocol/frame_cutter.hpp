#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "protocol/framing.hpp"
#include "protocol/stream_buffer.hpp"

namespace gorgo::protocol {

/// Cuts a stream of bytes into frames. Memory grows with the bytes that arrived, never with the
/// size that a prefix claims:
///
///     socket.read_some(cutter.space()); cutter.fill(n);
///     while (auto frame = cutter.next()) { if (!*frame) break; ... }
class FrameCutter {
 public:
  explicit FrameCutter(std::size_t max_frame) : max_frame_(max_frame) {}

  void set_max_frame(std::size_t size) { max_frame_ = size; }

  /// Room for at least 16 KiB more; valid until the next call of another member. When it or `next`
  /// throws bad_alloc, nothing has changed.
  std::span<std::uint8_t> space() { return buffer_.space(); }
  void fill(std::size_t size) { buffer_.fill(size); }
  /// The next whole frame, nothing when more bytes are needed, or why the stream cannot be followed
  /// any further. Such an error is final.
  Result<std::optional<Bytes>> next();
  /// Bytes of a frame whose end has not arrived.
  std::size_t open() const { return buffer_.unread().size(); }
  /// Bytes that it has allocated.
  std::size_t held() const { return buffer_.held(); }

 private:
  std::size_t max_frame_;
  StreamBuffer buffer_;
};

}  // namespace gorgo::protocol
