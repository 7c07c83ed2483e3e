#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gorgo/processor.hpp"
#include "protocol/framing.hpp"

namespace gorgo::server {

/// A row that a subscriber gets, and through which of its subscriptions.
struct DeliveredRow {
  std::uint32_t row;   ///< index into OutputBatch::rows
  std::uint16_t from;  ///< index into the subscriber's subscriptions

  friend auto operator<=>(const DeliveredRow&, const DeliveredRow&) = default;
};

struct DeliveryFrame {
  protocol::Bytes bytes;  ///< a Deliver whose subscription ids are all 0, see `address_to`
  std::size_t rows;
};

/// Rows as Deliver frames, a few thousand rows each. `subscriptions` is how many ids the frames
/// have room for. A row that alone is larger than `max_frame` is left out and counted in
/// `oversize`.
std::vector<DeliveryFrame> encode_delivery(const OutputBatch& batch,
                                           std::span<const DeliveredRow> rows,
                                           std::size_t subscriptions, std::size_t max_frame,
                                           std::uint64_t& oversize);

/// Writes the subscription ids of one subscriber into a copy of a frame.
void address_to(protocol::Bytes& deliver, std::span<const std::uint32_t> subscriptions);
void set_lost(protocol::Bytes& deliver, std::uint64_t rows);

}  // namespace gorgo::server
