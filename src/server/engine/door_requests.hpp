#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "server/command.hpp"
#include "server/doors/door_calls.hpp"
#include "server/durability/door_change.hpp"
#include "server/durability/engine_clock.hpp"
#include "server/durability/journal_writer.hpp"
#include "server/log.hpp"

namespace gorgo::server {

/// What clients ask about doors that they declare. Whether a declaration is right was found out
/// before, by `Doors::check`. Each request queues its reply. Belongs to the engine thread.
class DoorRequests {
 public:
  struct Parts {
    JournalWriter& journal;
    EngineClock& clock;
    KnownDoors known;
    DoorCalls doors;
    Log& log;
    std::function<void()> process;  ///< evaluates what is pending
  };
  explicit DoorRequests(Parts parts) : parts_(std::move(parts)) {}

  void declare(const Command& command, std::uint64_t id, const wire::DeclareDoor& request);
  void remove(const Command& command, std::uint64_t id, const wire::RemoveDoor& request);

 private:
  /// Who has asked to remove a door that is about to close.
  struct Removal {
    std::shared_ptr<Outbox> client;
    std::uint64_t id;
    std::string who;
  };

  const Parts parts_;
  std::map<std::string, Removal> closing_;  // by the door's name

  /// An error: the door is being removed, or the journal has no room.
  Result<void> make_room(const std::string& name, std::size_t bytes);
  /// The door is closed, and nothing of what it asked for is left.
  void end(const std::string& name, bool is_configured);
};

}  // namespace gorgo::server
