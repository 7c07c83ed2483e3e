#include "protocol/frame_cutter.hpp"

#include <algorithm>
#include <cstring>

namespace gorgo::protocol {
namespace {

constexpr std::size_t kRoom = std::size_t{16} << 10;
// What a stream keeps between frames; after a larger frame the memory is given back.
constexpr std::size_t kKept = std::size_t{1} << 20;

}  // namespace

std::span<std::uint8_t> FrameCutter::space() {
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

Result<std::optional<Bytes>> FrameCutter::next() {
  if (open() < kPrefix) return std::optional<Bytes>();
  const std::uint8_t* front = bytes_.data() + begin_;
  const auto content =
      content_size(std::span<const std::uint8_t, kPrefix>(front, kPrefix), max_frame_);
  if (!content) return content.error();
  const std::size_t size = kPrefix + *content;
  if (open() < size) return std::optional<Bytes>();
  std::optional<Bytes> frame(std::in_place, front, front + size);
  begin_ += size;
  return frame;
}

}  // namespace gorgo::protocol
