#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "gorgo/processor.hpp"
#include "protocol/framing.hpp"
#include "server/options.hpp"
#include "server/sessions/client_totals.hpp"

namespace gorgo::server {

/// Rows that a client does not get, and where they stood.
struct Gap {
  std::uint64_t rows = 0;
  Place first, last;  ///< of the rows; they mean nothing without any

  void add(const Gap& other);
};

/// A row that a subscriber gets, and through which of its subscriptions.
struct DeliveredRow {
  std::uint32_t row;   ///< index into OutputBatch::rows
  std::uint16_t from;  ///< index into the subscriber's subscriptions

  friend auto operator<=>(const DeliveredRow&, const DeliveredRow&) = default;
};

struct EncodedDelivery {
  /// A Deliver whose subscription ids are all 0 and which has lost nothing. Empty: its row alone is
  /// larger than a frame may be.
  protocol::Bytes bytes;
  Gap rows;  ///< that it holds
};

/// An upper bound for the frame that delivers this event to anybody.
std::size_t delivery_bytes(const BatchCursor& event, const Limits& limits);

/// Hands rows out as Deliver frames of a few thousand rows each, one after the other, so that there
/// is one frame at a time. `subscriptions` is how many ids the frames have room for. A frame above
/// `max_frame`, which then has one row, is handed out without its bytes.
void encode_delivery(const OutputBatch& batch, std::span<const DeliveredRow> rows,
                     std::size_t subscriptions, std::size_t max_frame,
                     const std::function<void(EncodedDelivery)>& take);

/// A Deliver frame that many clients share, but for its beginning: the subscription ids and what
/// was lost are each client's own. Immutable, so any thread may read it. Its bytes count once in
/// the memory of all clients.
class SharedDelivery {
 public:
  /// `number` orders deliveries by their age. `memory` must outlive the delivery.
  SharedDelivery(EncodedDelivery encoded, std::uint64_t number, MemoryBudget& memory);

  std::uint64_t number() const { return number_; }
  const wire::Deliver& deliver() const;
  std::uint32_t rows() const { return static_cast<std::uint32_t>(encoded_.rows.rows); }
  Place place(std::uint32_t row) const;
  std::size_t bytes() const { return encoded_.bytes.size(); }
  /// The beginning, in which clients differ.
  std::span<const std::uint8_t> head() const { return {encoded_.bytes.data(), head_}; }
  /// What follows it.
  std::span<const std::uint8_t> rest() const { return std::span(encoded_.bytes).subspan(head_); }

 private:
  const EncodedDelivery encoded_;
  const std::uint64_t number_;
  std::size_t head_;
  MemoryShare memory_;
};

/// A client's subscriptions, in the order in which its deliveries number them.
using SubscriptionIds = std::shared_ptr<const std::vector<std::uint32_t>>;

/// A delivery as one client gets it: some of the shared rows, and a gap before them.
struct ClientDelivery {
  std::shared_ptr<const SharedDelivery> shared;  ///< null: there are no rows, only a gap
  SubscriptionIds ids;
  SlowConsumer policy = SlowConsumer::disconnect;
  std::uint32_t first = 0;  ///< of the shared rows
  std::uint32_t rows = 0;
  Gap lost = {};
  bool credited = false;  ///< it is of the one subscription in `ids` and needs its credit
  bool durable = false;   ///< its rows are kept until they are acknowledged, and never lost here

  /// All rows of the delivery.
  static ClientDelivery of(std::shared_ptr<const SharedDelivery> shared, SubscriptionIds ids,
                           SlowConsumer policy);
  /// A Deliver without rows, which only tells of a loss in a subscription; 0 stands for several.
  static ClientDelivery only(const Gap& lost, std::uint32_t subscription = 0);

  /// What it takes on the wire, about.
  std::size_t bytes() const;
  /// Its rows as rows that are lost where it does not reach the client.
  Gap as_gap() const;
  /// The subscription that a row came through. `row` counts the shared rows.
  std::uint32_t subscription_of(std::uint32_t row) const;
};

/// What leaves an outbox: a frame of its own, or a delivery.
using OutFrame = std::variant<protocol::Bytes, ClientDelivery>;

/// A Deliver frame of the native protocol: `head`, and behind it `rest`, which lies in the shared
/// delivery.
struct DeliverFrame {
  protocol::Bytes head;
  std::span<const std::uint8_t> rest;
};
DeliverFrame frame_of(const ClientDelivery& delivery);

}  // namespace gorgo::server
