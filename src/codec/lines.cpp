#include "codec/lines.hpp"

#include <cstring>

namespace gorgo::codec {
namespace {

constexpr std::size_t kChunk = 256 << 10;

}  // namespace

LineCutter::Space LineCutter::space() {
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    scanned_ -= begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (bytes_.size() < end_ + kChunk) bytes_.resize(2 * (end_ + kChunk));
  return {bytes_.data() + end_, bytes_.size() - end_};
}

std::optional<std::string_view> LineCutter::next() {
  if (scanned_ == end_) return std::nullopt;
  const char* from = bytes_.data() + scanned_;
  const auto* found = static_cast<const char*>(std::memchr(from, '\n', end_ - scanned_));
  if (found == nullptr) {
    scanned_ = end_;
    return std::nullopt;
  }
  const std::size_t at = static_cast<std::size_t>(found - bytes_.data());
  const std::string_view line(bytes_.data() + begin_, at - begin_);
  begin_ = scanned_ = at + 1;
  return line;
}

std::optional<std::string_view> LineCutter::rest() {
  if (begin_ == end_) return std::nullopt;
  const std::string_view line(bytes_.data() + begin_, end_ - begin_);
  begin_ = scanned_ = end_;
  return line;
}

}  // namespace gorgo::codec
