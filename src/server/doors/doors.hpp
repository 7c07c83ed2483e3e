#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "doors/settings.hpp"
#include "server/door_positions.hpp"
#include "server/doors/door_calls.hpp"
#include "server/doors/runner.hpp"
#include "server/doors/runners.hpp"

namespace gorgo::server {

/// A door that a server has for itself: it has no kind by which others could have it.
struct OwnDoor {
  doors::Settings settings;
  SourceMaker make_source;  ///< where it is no sink
  SinkMaker make_sink;
};

/// The doors of a server: its own, those of its configuration, and those that clients have
/// declared. Where both have a name, the door is that of the configuration, and the other one waits
/// until it is gone. Belongs to the I/O thread; each door has a thread of its own.
class Doors {
 public:
  explicit Doors(DoorParts parts) : parts_(std::move(parts)) {}
  ~Doors() { stop_all(runners_); }

  /// The server's own doors, by names that no other door can have. To be called before `apply`.
  void set_own(std::map<std::string, OwnDoor> own) { own_ = std::move(own); }
  /// How far doors had read when the server ended, and which were declared. To be called before
  /// `apply`, which opens them. A text that this program does not take is logged, and shown as a
  /// door that fails.
  void restore(const DoorPositions& positions, const DeclaredDoors& declared);
  /// Opens the doors of the configuration that are new, closes those that are gone, and opens those
  /// anew whose settings have changed. Returns what was done, for people. Precondition:
  /// `doors::check` found nothing wrong.
  std::vector<std::string> apply(const doors::Doors& configured);

  /// Whether a client may declare a door of this name with these keys.
  Result<void> check(const std::string& name, const std::string& text) const;
  /// Whether a client may remove the door, as far as that is known here.
  Result<void> check_removal(const std::string& name) const;
  // What the engine thread has the doors do, see DoorCalls.
  void open(const std::string& name, const std::string& text);
  void close(const std::string& name, DoorCalls::Closed then);
  void remove(const std::string& name, bool forget);

  /// Takes nothing more in. What still leaves is kept for the next start, or leaves by `finish`.
  void close();
  /// Lets what waits leave, once, and closes all doors.
  void finish();
  std::vector<Door> infos() const;

 private:
  const DoorParts parts_;
  std::map<std::string, OwnDoor> own_;
  Runners<Runner> runners_;
  doors::Doors configured_, declared_;
  std::map<std::string, std::string> unusable_;  // declared doors, and what is wrong with them
  std::set<std::string> closing_;                // declared doors that are about to be removed
  bool is_ending_ = false;
  /// Doors that are closed, and of which the engine thread has not taken everything yet.
  std::set<std::string> leaving_;
  /// Their ends: a thread may wait for an other side that is silent, and nobody waits for it.
  std::vector<std::future<void>> ends_;
  std::map<std::string, doors::Position> positions_;  // of doors that are not open
  std::uint64_t last_id_ = std::uint64_t{1} << 63;    // sessions count from 1

  void declare(const std::string& name, const std::string& text);
  doors::Doors wanted() const;
  /// Closes a door that is open. `then` as in DoorCalls::close.
  void let_go(const std::string& name, std::function<void()> then);
  /// Has the door end beside this thread.
  void part_with(std::unique_ptr<Runner> runner);
  /// Has a door open again that had to wait for what the engine thread still had of it.
  void gone(const std::string& name, const doors::Position& position);
  /// Has the doors that are wanted be open, and no others.
  void open_wanted();
  std::unique_ptr<Runner> make(const std::string& name, const doors::Settings& settings);
};

}  // namespace gorgo::server
