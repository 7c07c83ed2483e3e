#include "protocol/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gorgo::protocol {
namespace {

/// Length of the well-formed character at the front, 0 when there is none (Unicode, table 3-7).
std::size_t character(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(s[i]); };
  const auto tail = [&](std::size_t i) { return i < s.size() && (byte(i) & 0xC0) == 0x80; };
  const auto second = [&](std::uint8_t low, std::uint8_t high) {
    return s.size() > 1 && byte(1) >= low && byte(1) <= high;
  };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  if (lead < 0xE0) return tail(1) ? 2 : 0;
  if (lead < 0xF0) {
    const bool ok = second(lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF);
    return ok && tail(2) ? 3 : 0;
  }
  const bool ok = second(lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF);
  return ok && tail(2) && tail(3) ? 4 : 0;
}

/// Bytes at the front that are ASCII, in steps of 8.
std::size_t ascii_prefix(std::string_view s) {
  std::size_t i = 0;
  for (std::uint64_t word = 0; i + 8 <= s.size(); i += 8) {
    std::memcpy(&word, s.data() + i, 8);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  return i;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    bytes.remove_prefix(ascii_prefix(bytes));
    if (bytes.empty()) break;
    const std::size_t length = character(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

}  // namespace gorgo::protocol
