#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gorgo::protocol {

/// Bytes that arrived and were not read yet. Memory grows with what arrived, never with what was
/// announced.
class StreamBuffer {
 public:
  /// Room for at least 16 KiB more; valid until the next call of another member. When it throws
  /// bad_alloc, nothing has changed.
  std::span<std::uint8_t> space();
  void fill(std::size_t size) { end_ += size; }
  /// Valid until the next `space`.
  std::span<const std::uint8_t> unread() const {
    return std::span(bytes_).subspan(begin_, end_ - begin_);
  }
  /// The first so many unread bytes are read.
  void drop(std::size_t size) { begin_ += size; }
  /// Bytes that it has allocated.
  std::size_t held() const { return bytes_.capacity(); }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace gorgo::protocol
