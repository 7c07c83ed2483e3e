#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "gorgo/event_batch.hpp"
#include "protocol/framing.hpp"
#include "protocol/trex/encode.hpp"
#include "protocol/trex/packets.hpp"
#include "server/subscriptions/delivery.hpp"

namespace gorgo::server {

/// Writes the events of a Deliver as publications of T-Rex, one packet for each, some at a time:
/// packets repeat the names of attributes, so they may take far more bytes than the Deliver.
class TrexDelivery {
 public:
  /// The types that subscriptions ask for, by their ids.
  using Types = std::unordered_map<std::uint32_t, std::int32_t>;

  /// Both must outlive it. The delivery has all rows of the shared one.
  TrexDelivery(const ClientDelivery& delivery, const Types& types);

  bool done() const { return event_.done(); }
  /// Appends packets until there are no more or `out` has `enough` bytes.
  void write(protocol::trex::Bytes& out, std::size_t enough);

 private:
  const ClientDelivery& delivery_;
  const Types& types_;
  BatchCursor event_;
  protocol::trex::Publication packet_;
  std::deque<std::string> converted_;  // texts of `packet_` that are not ASCII

  void fill(std::int32_t type);
  protocol::trex::Literal literal(const Datum& value);
  std::string_view latin1(std::string_view utf8);
};

}  // namespace gorgo::server
