#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/trex/packets.hpp"

/// Packets as bytes, each with the five bytes before its body. What comes is appended.
namespace gorgo::protocol::trex {

using Bytes = std::vector<std::uint8_t>;

void encode(Bytes& out, const Publication& publication);
void encode(Bytes& out, const Rule& rule);
void encode_subscription(Bytes& out, const Subscription& subscription);
void encode_unsubscription(Bytes& out, const Subscription& subscription);
void encode_ping(Bytes& out);

}  // namespace gorgo::protocol::trex
