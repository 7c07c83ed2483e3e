#include "language/byte_stream.hpp"

namespace gorgo::language {

std::size_t ByteStream::LA(ssize_t i) {
  const std::size_t at = position_ + static_cast<std::size_t>(i > 0 ? i - 1 : i);
  return at < text_.size() ? static_cast<unsigned char>(text_[at]) : IntStream::EOF;
}

std::string ByteStream::getText(const antlr4::misc::Interval& interval) {
  const auto first = static_cast<std::size_t>(interval.a);
  if (first >= text_.size() || interval.b < interval.a) return {};
  return std::string(text_.substr(first, static_cast<std::size_t>(interval.b - interval.a + 1)));
}

}  // namespace gorgo::language
