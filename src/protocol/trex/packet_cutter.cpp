#include "protocol/trex/packet_cutter.hpp"

#include <string>

#include "protocol/trex/body_reader.hpp"

namespace gorgo::protocol::trex {

Result<std::optional<Packet>> PacketCutter::next() {
  const auto unread = buffer_.unread();
  if (unread.size() < kHeader) return std::optional<Packet>();
  const auto length = BodyReader(unread.subspan(1, kHeader - 1)).integer("the length");
  if (length < 0 || static_cast<std::size_t>(length) > max_packet_ - kHeader) {
    return Error{"a packet of kind " + std::to_string(unread[0]) + " announces a body of " +
                     std::to_string(length) + " bytes",
                 "packets have at most " + std::to_string(max_packet_) +
                     " bytes; is this a client of T-Rex?"};
  }
  const std::size_t size = kHeader + static_cast<std::size_t>(length);
  if (unread.size() < size) return std::optional<Packet>();
  buffer_.drop(size);
  return std::optional(Packet{unread[0], unread.subspan(kHeader, size - kHeader)});
}

}  // namespace gorgo::protocol::trex
