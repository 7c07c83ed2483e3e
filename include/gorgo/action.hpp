#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gorgo/value.hpp"

namespace gorgo {

/// Events whose attributes have these values are not acted upon for a while.
struct ActionSilence {
  std::uint64_t id = 0;  ///< the server gives it
  std::vector<std::string>
      matchers;         ///< "area=A1", all of which hold; "type=Fire" is about the type
  Timestamp until = 0;  ///< nanoseconds since the Unix epoch
  std::string comment;
};

/// Where a server carries out actions of rules.
struct ActionTarget {
  std::string name;
  std::string kind;             ///< "webhook", "mail", "publish", "command", "file", "sql"
  std::string address;          ///< the URL, the mail server, the program or the file
  std::string state;            ///< "running", "failing", or "open": one attempt at a time
  std::string problem;          ///< why it fails; empty: it does not
  bool dry_run = false;         ///< nothing is carried out, only counted
  std::uint64_t waiting = 0;    ///< events that were taken up and are not done with
  std::uint64_t done = 0;       ///< events whose action was carried out
  std::uint64_t attempts = 0;   ///< of actions
  std::uint64_t failures = 0;   ///< attempts that failed
  std::uint64_t dead = 0;       ///< events that were given up
  std::uint64_t retriable = 0;  ///< those of them that are remembered for a retry
  std::uint64_t lost = 0;       ///< events that never came, because too much waited
  std::uint64_t silenced = 0;   ///< events that a silence has taken
  std::uint64_t inhibited = 0;  ///< events about which nothing was done because of others before
  std::vector<ActionSilence> silences;
};

}  // namespace gorgo
