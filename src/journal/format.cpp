#include "journal/format.hpp"

#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace gorgo::journal {
namespace {

constexpr std::uint64_t kMagic = 0x4C4E4A4F47524F47;    // "GORGOJNL"
constexpr std::uint64_t kEndMark = 0x5A5A5A5A5A5A5A5A;  // "ZZZZZZZZ"
constexpr std::uint16_t kMark = 0x5A5A;
constexpr std::string_view kSuffix = ".journal";
constexpr std::size_t kDigits = 20;

template <class T>
Bytes bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

std::uint32_t checksum_of(SegmentHeader header) {
  header.checksum = 0;
  return crc32c(0, bytes_of(header));
}

std::uint32_t checksum_of(const RecordHeader& header, std::uint32_t seed) {
  return crc32c(seed, bytes_of(header).subspan(sizeof(header.checksum)));
}

}  // namespace

std::uint32_t crc32c(std::uint32_t before, Bytes bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  std::uint32_t crc = ~before;
  while (!bytes.empty()) {
    const Bytes part = bytes.first(std::min(bytes.size(), kMost));
    // ISA-L reads only, whatever its signature says.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(part.data()));
    crc = crc32_iscsi(data, static_cast<int>(part.size()), crc);
    bytes = bytes.subspan(part.size());
  }
  return ~crc;
}

std::uint32_t seed_of(std::uint64_t journal, Place first) {
  const std::array<std::uint64_t, 2> both = {journal, first};
  return crc32c(0, std::as_bytes(std::span(both)));
}

SegmentHeader seal(SegmentHeader header) {
  header.magic = kMagic;
  header.version = kFormatVersion;
  header.end_mark = kEndMark;
  header.checksum = checksum_of(header);
  return header;
}

HeaderState check(Bytes bytes, SegmentHeader& header) {
  if (bytes.size() < sizeof(header)) return HeaderState::torn;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.checksum == checksum_of(header) && header.magic == kMagic) {
    return header.version == kFormatVersion ? HeaderState::whole : HeaderState::foreign;
  }
  return may_be_torn(0, bytes.first(sizeof(header))) ? HeaderState::torn : HeaderState::damaged;
}

Bytes padding_of(std::uint64_t length) {
  static const std::array<std::byte, kUnit> kPadding = [] {
    std::array<std::byte, kUnit> bytes;
    bytes.fill(std::byte{0xFF});
    return bytes;
  }();
  return Bytes(kPadding).first(kUnit - length % kUnit);
}

std::uint64_t record_bytes(std::uint64_t length) {
  return sizeof(RecordHeader) + length + padding_of(length).size();
}

RecordHeader seal(RecordHeader header, std::uint32_t seed, std::span<const Bytes> payload) {
  std::uint32_t crc = seed;
  for (const Bytes part : payload) crc = crc32c(crc, part);
  header.payload_checksum = crc32c(crc, padding_of(header.length));
  header.mark = kMark;
  header.checksum = checksum_of(header, seed);
  return header;
}

std::optional<RecordHeader> record_header(Bytes bytes, std::uint32_t seed) {
  RecordHeader header;
  if (bytes.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.mark != kMark || header.checksum != checksum_of(header, seed)) return std::nullopt;
  return header;
}

bool is_whole(const RecordHeader& header, std::uint32_t seed, Bytes body) {
  return body.size() + sizeof(header) == record_bytes(header.length) &&
         crc32c(seed, body) == header.payload_checksum;
}

bool may_be_torn(std::uint64_t offset, Bytes bytes) {
  while (!bytes.empty()) {
    const std::size_t in_sector =
        std::min<std::size_t>(kSectorBytes - offset % kSectorBytes, bytes.size());
    if (bytes[in_sector - 1] == std::byte{0}) return true;
    offset += in_sector;
    bytes = bytes.subspan(in_sector);
  }
  return false;
}

std::string segment_name(Place first) {
  const std::string digits = std::to_string(first);
  return std::string(kDigits - digits.size(), '0') + digits + std::string(kSuffix);
}

std::optional<Place> first_of(std::string_view name) {
  if (name.size() != kDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  Place first = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + kDigits, first);
  if (code != std::errc() || end != name.data() + kDigits || first == 0) return std::nullopt;
  return first;
}

}  // namespace gorgo::journal
