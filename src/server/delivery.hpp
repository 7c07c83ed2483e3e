#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "gorgo/processor.hpp"
#include "protocol/framing.hpp"
#include "server/options.hpp"

namespace gorgo::server {

/// A row that a subscriber gets, and through which of its subscriptions.
struct DeliveredRow {
  std::uint32_t row;   ///< index into OutputBatch::rows
  std::uint16_t from;  ///< index into the subscriber's subscriptions

  friend auto operator<=>(const DeliveredRow&, const DeliveredRow&) = default;
};

struct DeliveryFrame {
  /// A Deliver whose subscription ids are all 0, see `address_to`. Empty: its row alone is larger
  /// than a frame may be.
  protocol::Bytes bytes;
  std::size_t rows;
};

/// An upper bound for the frame that delivers this event to anybody.
std::size_t delivery_bytes(const BatchCursor& event, const Limits& limits);

/// Hands rows out as Deliver frames of a few thousand rows each, one after the other, so that there
/// is one frame at a time. `subscriptions` is how many ids the frames have room for. A frame above
/// `max_frame`, which then has one row, is handed out without its bytes.
void encode_delivery(const OutputBatch& batch, std::span<const DeliveredRow> rows,
                     std::size_t subscriptions, std::size_t max_frame,
                     const std::function<void(const DeliveryFrame&)>& take);

/// A Deliver without rows, which only says that so many rows were lost.
protocol::Bytes loss_notice(std::uint64_t rows);

/// Writes the subscription ids of one subscriber into a copy of a frame.
void address_to(protocol::Bytes& deliver, std::span<const std::uint32_t> subscriptions);
void set_lost(protocol::Bytes& deliver, std::uint64_t rows);

}  // namespace gorgo::server
