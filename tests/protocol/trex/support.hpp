#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/trex/encode.hpp"
#include "protocol/trex/packet_cutter.hpp"
#include "protocol/trex/packets.hpp"

namespace gorgo::protocol::trex {

/// The bytes that hexadecimal digits stand for. Blanks mean nothing.
inline Bytes from_hex(std::string_view text) {
  Bytes bytes;
  std::string digits;
  for (const char c : text) {
    if (c == ' ' || c == '\n') continue;
    digits += c;
    if (digits.size() < 2) continue;
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(digits, nullptr, 16)));
    digits.clear();
  }
  return bytes;
}

inline std::span<const std::uint8_t> body_of(const Bytes& packet) {
  return std::span(packet).subspan(kHeader);
}

/// A bare publication: type 10, timestamp 1000, i = -2, f = 1.5, b = true, s = "hi".
inline const char* const kPublication = R"(
    00 00000037 0000000a 00000000000003e8 00000004
    00000001 69 00 fffffffe
    00000001 66 01 3fc00000
    00000001 62 02 01
    00000001 73 03 00000002 6869)";
/// Type 20 with temp >= 45.
inline const char* const kSubscription =
    "02 00000016 00000014 00000001 00000004 74656d70 06 00 0000002d";
/// Type 20 with area containing "off".
inline const char* const kContains =
    "02 00000019 00000014 00000001 00000004 61726561 04 03 00000003 6f6666";
inline const char* const kUnsubscription = R"(
    64 0000001b 02 00000016 00000014 00000001 00000004 74656d70 06 00 0000002d)";

/// What T-Rex's Java client sends for `kSmallRuleText`.
inline const char* const kSmallRule = R"(
    01 0000006f
    00000002
    00000000 00000001 00000000 ffffffff 0000000000000000 00
    00000001 00000002 00000001 00000001 76 02 00 00000005 00000000 00000000000003e8 02
    00000000 00000000 00000000
    00000003 00000001 00000001 78 00 00 00 00000001 00 00000001 76
    00000000 00000000)";
inline const char* const kSmallRuleText = R"(
    Assign 1 => T1, 2 => T2, 3 => T3
    Define T3(x: int)
    From T1() and last T2(v > 5) within 1000 from T1
    Where x := T2.v;)";

/// What T-Rex's Java client sends for `kFullRuleText`.
inline const char* const kFullRule = R"(
    01 000000d8
    00000002
    00000000 00000001 00000000 ffffffff 0000000000000000 00
    00000001 00000002 00000000 00000000 00000000000003e8 00
    00000001
    00000000 00 00 00
      00 00 00 00000001 00 00000001 6b
      00 00 00 00000000 00 00000001 6b
    00000001
    00000000 00000002 00000000 ffffffff 00000000000001f4 00000000 05 00000001 76
    00000001
    00000000 00000003 00000001 00000001 62 00 02 01 00000001 0000000000000000 00000000
    00000004
    00000001 00000001 78 00 00 00 00000000 02 00000000
    00000001 00000001 79 00 00000007
    00000001 00000001)";
inline const char* const kFullRuleText = R"(
    Assign 1 => T1, 2 => T2, 3 => T3, 4 => T4
    Define T4(x: int, y: int)
    From T1(k => $k) and each T2([int]k = $k) within 1000 from T1
      and not T3(b = true) between T2 and T1
    Where x := SUM(T2.v()) within 500 from T1, y := 7
    Consuming T2;)";

}  // namespace gorgo::protocol::trex
