#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/framing.hpp"

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
  std::span<std::uint8_t> space();
  void fill(std::size_t size) { end_ += size; }
  /// The next whole frame, nothing when more bytes are needed, or why the stream cannot be followed
  /// any further. Such an error is final.
  Result<std::optional<Bytes>> next();
  /// Bytes of a frame whose end has not arrived.
  std::size_t open() const { return end_ - begin_; }
  /// Bytes that it has allocated.
  std::size_t held() const { return bytes_.capacity(); }

 private:
  std::size_t max_frame_;
  std::vector<std::uint8_t> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace gorgo::protocol
