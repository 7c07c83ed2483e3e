#include "protocol/stream_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace gorgo::protocol {
namespace {

constexpr std::size_t kRoom = std::size_t{16} << 10;
// What a stream keeps between frames; after a larger frame the memory is given back.
constexpr std::size_t kKept = std::size_t{1} << 20;

}  // namespace

std::span<std::uint8_t> StreamBuffer::space() {
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (bytes_.size() > kKept && end_ + kRoom <= kKept) {
    bytes_.resize(kKept);
    bytes_.shrink_to_fit();
  }
  if (bytes_.size() < end_ + kRoom) bytes_.resize(std::max(4 * kRoom, 2 * end_));
  return std::span(bytes_).subspan(end_);
}

}  // namespace gorgo::protocol
