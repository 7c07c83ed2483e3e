#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "protocol/gorgo_generated.h"

/// Frames of the native protocol (docs/protocol.md): a 4 byte little-endian size, then a
/// FlatBuffer of that size with the file identifier "GRGO". Pure functions.
namespace gorgo::protocol {

/// A whole frame, its size prefix included.
using Bytes = std::vector<std::uint8_t>;

inline constexpr std::uint16_t kVersion = 1;
inline constexpr std::size_t kPrefix = 4;
inline constexpr std::size_t kDefaultMaxFrame = std::size_t{16} << 20;
/// Until the version is agreed on, nothing larger is read.
inline constexpr std::size_t kMaxGreeting = std::size_t{64} << 10;
inline constexpr std::uint32_t kDefaultMaxRows = 65536;

/// The number of bytes that follow the prefix, or why no frame can begin so. `max_frame` bounds
/// prefix and content together. After an error here the stream cannot be followed any further.
Result<std::size_t> content_size(std::span<const std::uint8_t, kPrefix> prefix,
                                 std::size_t max_frame);

/// The message in a frame whose size is its prefix's, verified. The body is there, but may be of a
/// kind that only a later version knows. It refers into `frame`, which must be aligned to 8 bytes
/// (a `Bytes` is).
Result<const wire::Message*> open_frame(std::span<const std::uint8_t> frame);

/// What a message is called in errors: "Publish".
std::string_view name_of(wire::Body kind);

/// `Body` is an object of the generated object API: `encode(7, wire::AckT{...})`.
template <class Body>
Bytes encode(std::uint64_t id, const Body& body) {
  using Table = typename Body::TableType;
  flatbuffers::FlatBufferBuilder builder(256);
  const auto packed = Table::Pack(builder, &body);
  builder.FinishSizePrefixed(
      wire::CreateMessage(builder, id, wire::BodyTraits<Table>::enum_value, packed.Union()),
      wire::MessageIdentifier());
  return Bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
}

}  // namespace gorgo::protocol
