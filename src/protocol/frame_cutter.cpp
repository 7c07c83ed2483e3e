#include "protocol/frame_cutter.hpp"

namespace gorgo::protocol {

Result<std::optional<Bytes>> FrameCutter::next() {
  const auto unread = buffer_.unread();
  if (unread.size() < kPrefix) return std::optional<Bytes>();
  const auto content = content_size(unread.first<kPrefix>(), max_frame_);
  if (!content) return content.error();
  const auto size = kPrefix + *content;
  if (unread.size() < size) return std::optional<Bytes>();
  std::optional<Bytes> frame(std::in_place, unread.begin(), unread.begin() + size);
  buffer_.drop(size);
  return frame;
}

}  // namespace gorgo::protocol
