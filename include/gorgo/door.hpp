#pragma once

#include <cstdint>
#include <string>

namespace gorgo {

/// A way by which a server itself goes out for events, or takes them elsewhere.
struct Door {
  std::string name;
  std::string kind;                ///< "file", "mqtt"
  std::string direction;           ///< "in": events come through it; "out": they leave
  std::string target;              ///< the file or the broker
  std::string state;               ///< "running", "waiting" for the engine, or "failing"
  std::string problem;             ///< why it fails; empty: it does not
  std::string position;            ///< how far it has come, for people
  std::uint64_t events = 0;        ///< that were taken, or sent and confirmed
  std::uint64_t refused = 0;       ///< by the engine
  std::uint64_t dead_letters = 0;  ///< what was no event
  std::uint64_t lost = 0;          ///< events that were not sent, because too much waited
  std::uint64_t failures = 0;      ///< times that it could not go on
  bool declared = false;           ///< by a client; else by the server's configuration
};

}  // namespace gorgo
