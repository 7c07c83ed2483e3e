#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gorgo/client.hpp"
#include "protocol/framing.hpp"

namespace gorgo::client {

/// What the server takes in one frame, as its Welcome says.
struct BatchLimits {
  std::size_t max_frame = protocol::kDefaultMaxFrame;
  std::uint32_t max_rows = protocol::kDefaultMaxRows;
};

/// Events [first, first + count) of a publication as one Publish frame.
struct Piece {
  std::size_t first = 0;
  std::size_t count = 0;
  std::uint64_t id = 0;
  protocol::Bytes frame;
};

/// Encodes as many events from `first` on as fit in one frame, at least one.
/// Fails when a single event is larger than a frame.
Result<Piece> encode_piece(std::span<const Event> events, std::size_t first,
                           const BatchLimits& limits, const wire::PublishT& header,
                           std::uint64_t id);

/// A Trace frame. Precondition: the event fits in a frame.
protocol::Bytes encode_trace(const Event& event, std::uint64_t id);

}  // namespace gorgo::client
