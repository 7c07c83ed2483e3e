#pragma once

#include <string>

#include "gorgo/event.hpp"
#include "journal/reader.hpp"

namespace gorgo::tools {

/// Where an event of a server came from.
struct FoundEvent {
  journal::Place record = 0;  ///< that gave its root a place
  std::string notation;       ///< the event, as a rule test has it
};

/// Finds the event with this id: the ids are those that the server gave, because what the journal
/// tells is done again, from the last snapshot before it. An error: there is no such event, or the
/// journal does not reach back so far.
Result<FoundEvent> find_event(const journal::View& journal, const gorgo::Place& id);

}  // namespace gorgo::tools
