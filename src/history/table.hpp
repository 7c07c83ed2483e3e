#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "history/event_store.hpp"

namespace gorgo::history {

/// The rows of a table that a search for rows before a time may still find, if the time is
/// `horizon` or later: of each key the newest one before the horizon, and all that are not before
/// it. In the order of their slots. `key`: attributes that every row has.
std::vector<Slot> rows_to_stay(const EventStore& rows, std::span<const std::uint32_t> key,
                               Timestamp horizon);

}  // namespace gorgo::history
