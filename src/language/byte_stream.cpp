#include "language/byte_stream.hpp"

namespace gorgo::language {

namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";

/// What stands for the byte at `at`, which is not of ASCII: the parts of a byte order mark are 1, 2
/// and 3, and all others alike.
std::size_t stand_in(std::string_view text, std::size_t at) {
  constexpr std::size_t kOther = 0x7F;
  const std::size_t part = kMark.find(text[at]);
  const bool is_of_mark =
      part != kMark.npos && at >= part && text.substr(at - part).starts_with(kMark);
  return is_of_mark ? part + 1 : kOther;
}

}  // namespace

std::size_t ByteStream::LA(ssize_t i) {
  const std::size_t at = position_ + static_cast<std::size_t>(i > 0 ? i - 1 : i);
  if (at >= text_.size()) return IntStream::EOF;
  const auto byte = static_cast<unsigned char>(text_[at]);
  if (byte >= 0x80) return stand_in(text_, at);
  // Nobody may write what stands for another byte. All control characters mean the same.
  constexpr std::size_t kControl = 4;
  return byte == 0x7F || (byte >= 1 && byte <= 3) ? kControl : byte;
}

std::string ByteStream::getText(const antlr4::misc::Interval& interval) {
  const auto first = static_cast<std::size_t>(interval.a);
  if (first >= text_.size() || interval.b < interval.a) return {};
  return std::string(text_.substr(first, static_cast<std::size_t>(interval.b - interval.a + 1)));
}

}  // namespace gorgo::language
