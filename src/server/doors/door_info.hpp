#pragma once

#include <cstdint>
#include <string>

namespace gorgo::server {

/// A door as its operators see it.
struct DoorInfo {
  std::string name;
  std::string kind;
  bool is_sink = false;
  std::string target;         ///< the file or the broker
  std::string state;          ///< "running", "waiting" for the engine, or "failing"
  std::string problem;        ///< why it fails; empty: it does not
  std::string position;       ///< how far it has come, for people
  std::uint64_t events = 0;   ///< that were taken, or sent and confirmed
  std::uint64_t refused = 0;  ///< by the engine
  std::uint64_t dead = 0;     ///< what was no event
  std::uint64_t lost = 0;     ///< events that were not sent, because too much waited
  std::uint64_t failures = 0;
};

}  // namespace gorgo::server
