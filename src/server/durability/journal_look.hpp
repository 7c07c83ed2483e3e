#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "gorgo/diagnostics.hpp"
#include "gorgo/event_batch.hpp"
#include "journal/format.hpp"

namespace gorgo::server {

/// Which events of a journal somebody wants to see.
struct JournalLook {
  journal::Place place = 0;     ///< from this record on; 0: from the first one
  std::optional<Timestamp> at;  ///< with this timestamp or a later one; unset: with any
  std::string type;             ///< of this type only; empty: of any
  std::size_t most = 100;       ///< so many, and the rest of the record with the last of them
  /// Events are released as they come, so that those which the server stamps are behind all others.
  bool in_order = true;
};

/// What a journal was found to hold.
struct JournalSight {
  journal::Place low = 0, end = 0;  ///< it has the records from `low` to before `end`
  journal::Place next = 0;          ///< what follows is here; `end`: nothing does
};

/// Reads events of a journal into which this process may write meanwhile. Ends early when `stop`
/// says so. Any thread. An error: the journal cannot be read. `take` gets the record, the event's
/// timestamp and the event.
Result<JournalSight> look_into_journal(
    const std::string& folder, const JournalLook& look, const std::stop_token& stop,
    const std::function<void(journal::Place, Timestamp, const BatchCursor&)>& take);

}  // namespace gorgo::server
