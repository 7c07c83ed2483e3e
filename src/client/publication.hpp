#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gorgo/client.hpp"
#include "gorgo/event_batch.hpp"
#include "protocol/framing.hpp"

namespace gorgo::client {

/// A producer of the program's own was named, and no number for what it publishes first.
Error no_sequence();

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

wire::AckMode mode_of(Acknowledge acknowledge);

/// Why the server would refuse this event and every other one of the same batch. `number`: of the
/// event in its publication.
std::optional<Error> problem_of(const Event& event, std::size_t number, const BatchLimits& limits);

/// Encodes a batch that begins with event `first` of its publication. Nothing: it is more than the
/// server takes in one frame. An error: so is its only event.
Result<std::optional<Piece>> encode_piece(const EventBatch& batch, std::size_t first,
                                          const BatchLimits& limits, const wire::PublishT& header,
                                          std::uint64_t id);

/// Copies the first half of the events of a batch, and the rest.
std::array<BatchBuilder, 2> halves_of(const EventBatch& batch);

/// Collects the events that come next in `events`, at least one and about as many as fit in one
/// frame, and removes them there. Precondition: there are any.
BatchBuilder collect(std::span<const Event>& events, const BatchLimits& limits);

/// A Trace frame. Precondition: the event fits in a frame.
protocol::Bytes encode_trace(const Event& event, std::uint64_t id);

}  // namespace gorgo::client
