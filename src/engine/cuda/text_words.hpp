#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gorgo::engine {

/// The 8 bytes of a string from byte 8 * i on as a word (cuda/text.hpp).
inline std::uint64_t word_of_text(std::string_view text, std::size_t i) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  if (8 * i < text.size()) {
    text = text.substr(8 * i, 8);
    std::memcpy(&word, text.data(), text.size());
  }
  return __builtin_bswap64(word);
}

}  // namespace gorgo::engine
