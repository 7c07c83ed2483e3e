#include "protocol/trex/latin1.hpp"

#include <algorithm>
#include <cstdint>

namespace gorgo::protocol::trex {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void append_utf8(std::string& out, std::string_view latin1) {
  for (const char c : latin1) {
    const auto code = static_cast<std::uint8_t>(c);
    if (code < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xC0 | (code >> 6));
      out += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
}

std::string to_utf8(std::string_view latin1) {
  std::string out;
  append_utf8(out, latin1);
  return out;
}

void append_latin1(std::string& out, std::string_view utf8) {
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    const auto byte = static_cast<std::uint8_t>(utf8[at]);
    const bool continues = (byte & 0xC0) == 0x80;
    if (byte < 0x80) {
      out += utf8[at];
    } else if ((byte == 0xC2 || byte == 0xC3) && at + 1 < utf8.size()) {
      out += static_cast<char>((byte << 6) | (static_cast<std::uint8_t>(utf8[++at]) & 0x3F));
    } else if (!continues) {
      out += '?';
    }
  }
}

}  // namespace gorgo::protocol::trex
