#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gorgo/value.hpp"

namespace gorgo {

/// One event's way through a server, stage by stage, in nanoseconds of its steady clock.
struct Trace {
  struct Rule {
    std::string name;
    bool reads = false;             ///< its pattern mentions the event's type
    std::uint64_t terminators = 0;  ///< evaluated, by this event or by what it caused
    std::uint64_t composites = 0;   ///< produced
  };

  Timestamp timestamp = 0;   ///< as given or stamped; 0 for a held event without one
  bool held = false;         ///< `lateness` holds it back: it is evaluated later
  Duration queue = 0;        ///< from the socket until the engine thread took it up
  Duration ahead = 0;        ///< until what had come before was evaluated and delivered
  Duration sequence = 0;     ///< checked, stamped, put in order
  Duration evaluate = 0;     ///< rules, level by level
  Duration deliver = 0;      ///< subscriptions matched, frames encoded and queued
  Duration round_trip = 0;   ///< by the client's clock: all of this, the network and the reply
  std::uint64_t copies = 0;  ///< events queued for subscribers, the traced one included
  std::vector<Rule> rules;   ///< those that it concerned, in their order
  /// The first thousand composites that it caused, as event lines in place order. Where it released
  /// events that `lateness` had held, those that they caused are among them.
  std::vector<std::string> composites;
};

}  // namespace gorgo
