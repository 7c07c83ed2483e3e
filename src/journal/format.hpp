#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "journal/disk.hpp"

/// The format of a journal on the disk, version 1. docs/journal.md describes it.
namespace gorgo::journal {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

/// The number of a record in its journal. The first record has 1, and each one the number that
/// follows that of the record before it.
using Place = std::uint64_t;

inline constexpr std::uint32_t kFormatVersion = 1;
/// Records begin at multiples of this, so that no header is in two sectors of a disk.
inline constexpr std::size_t kUnit = 32;
inline constexpr std::size_t kSectorBytes = 512;
inline constexpr std::uint32_t kMostPayload = 0xFFFFFF00;

/// Kinds below this one are the journal's own.
inline constexpr std::uint16_t kFirstKind = 16;
/// This bit is set in the kind of a record whose payload is packed.
inline constexpr std::uint16_t kPacked = 0x8000;
/// A record that only tells what was durable. Its payload is one sector and means nothing.
inline constexpr std::uint16_t kMarkKind = 1;

/// What a segment file begins with.
struct SegmentHeader {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t checksum = 0;  ///< of the header, with zero in its place
  std::uint64_t journal = 0;   ///< a random number that all segments of a journal share
  Place first = 0;             ///< the place of its first record
  Place durable = 0;           ///< places below this one were durable when it was made
  Place low = 0;               ///< places below this one were no longer needed
  std::int64_t made = 0;       ///< nanoseconds since the Unix epoch
  std::uint64_t end_mark = 0;  ///< its last byte is not zero, so that a torn header is told
};
static_assert(sizeof(SegmentHeader) == 64);

/// What a record begins with. The payload follows, then one to 32 bytes of 0xFF.
struct RecordHeader {
  std::uint32_t checksum = 0;          ///< of the rest of the header
  std::uint32_t payload_checksum = 0;  ///< of the payload and the bytes behind it
  Place place = 0;
  Place durable = 0;         ///< places below this one were durable when it was written
  std::uint32_t length = 0;  ///< of the payload, in bytes
  std::uint16_t kind = 0;
  std::uint16_t mark = 0;  ///< its last byte is not zero, so that a torn header is told
};
static_assert(sizeof(RecordHeader) == kUnit);

/// CRC32C of `bytes`, going on from `before`.
std::uint32_t crc32c(std::uint32_t before, Bytes bytes);

/// Checksums of records begin with this, so that bytes of another segment or of a client are not
/// taken for a record.
std::uint32_t seed_of(std::uint64_t journal, Place first);

/// A header with magic, version, checksum and mark.
SegmentHeader seal(SegmentHeader header);

/// What the bytes at the begin of a segment are.
enum class HeaderState : std::uint8_t {
  whole,
  torn,     ///< a part of it was never written
  damaged,  ///< something else than a header
  foreign,  ///< of a version that this program does not know
};
HeaderState check(Bytes bytes, SegmentHeader& header);

/// What is behind a payload.
Bytes padding_of(std::uint64_t length);
/// A record with its header and padding.
std::uint64_t record_bytes(std::uint64_t length);

/// `header` with mark and checksums.
RecordHeader seal(RecordHeader header, std::uint32_t seed, std::span<const Bytes> payload);
/// The header at the begin of `bytes`, if there is one.
std::optional<RecordHeader> record_header(Bytes bytes, std::uint32_t seed);
/// `body`: payload and padding.
bool is_whole(const RecordHeader& header, std::uint32_t seed, Bytes body);

/// Whether bytes that stand at `offset` of a file may lack sectors, or the end of one, that were
/// never written. `bytes` would end with a byte that is not zero.
bool may_be_torn(std::uint64_t offset, Bytes bytes);

std::string segment_name(Place first);
std::optional<Place> first_of(std::string_view segment_name);

}  // namespace gorgo::journal
