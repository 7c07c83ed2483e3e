#pragma once

#include <cstdint>
#include <span>

#include "gorgo/diagnostics.hpp"
#include "protocol/trex/packets.hpp"

/// The bodies of packets, without the five bytes before them. A decoded packet refers to its body,
/// and what it takes in memory is in proportion to it. Bytes behind what a packet needs are
/// ignored. Any other deviation is an error, which names the byte.
namespace gorgo::protocol::trex {

/// Overwrites `publication`, so that one object serves many packets without allocating. After an
/// error its content means nothing.
Result<void> decode(std::span<const std::uint8_t> body, Publication& publication);
Result<Subscription> decode_subscription(std::span<const std::uint8_t> body);
/// The body holds a whole subscription packet.
Result<Subscription> decode_unsubscription(std::span<const std::uint8_t> body);
/// Numbers of predicates, negations and aggregates may be out of range.
Result<Rule> decode_rule(std::span<const std::uint8_t> body);

}  // namespace gorgo::protocol::trex
