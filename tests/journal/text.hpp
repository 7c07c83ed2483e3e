#pragma once

#include <random>
#include <span>
#include <string>
#include <string_view>

#include "journal/disk.hpp"

namespace gorgo::journal {

inline Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

inline std::string text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A text that is not smaller when it is packed.
inline std::string dense_text(std::size_t size) {
  std::string text(size, ' ');
  std::mt19937_64 random(size);
  for (char& letter : text) letter = static_cast<char>('!' + random() % 90);
  return text;
}

}  // namespace gorgo::journal
