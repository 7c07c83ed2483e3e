#pragma once

#include <cstdint>
#include <string>

#include "protocol/framing.hpp"
#include "server/actions/outstanding.hpp"

namespace gorgo::server {

// What targets publish, as doors do, without events. `target`: the name of the target's durable
// subscription; `number`: of the request.

/// A publication of a dead letter for each event.
protocol::Bytes dead_letters_of(const std::string& target, const OutstandingOrder& dead,
                                std::uint64_t number);
/// A publication of what the target is to know again when the server has started anew.
protocol::Bytes state_of(const std::string& target, const std::string& state, std::uint64_t number);

}  // namespace gorgo::server
