#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/framing.hpp"
#include "server/actions/outstanding.hpp"

namespace gorgo::server {

// What targets publish, as doors do, without events. `target`: the name of the target's durable
// subscription; `number`: of the request.

/// A publication of a dead letter for each event of the orders, and of the state that the target
/// has with them; empty: of none.
protocol::Bytes dead_letters_of(const std::string& target, const std::vector<OrderPlace>& dead,
                                const std::string& state, std::uint64_t number);
/// A publication of what the target is to know again when the server has started anew.
protocol::Bytes state_of(const std::string& target, const std::string& state, std::uint64_t number);

}  // namespace gorgo::server
