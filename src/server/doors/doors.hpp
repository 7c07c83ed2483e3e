#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "doors/settings.hpp"
#include "server/door_positions.hpp"
#include "server/doors/runner.hpp"

namespace gorgo::server {

/// The doors of a server. Belongs to the I/O thread; each door has a thread of its own.
class Doors {
 public:
  explicit Doors(DoorParts parts) : parts_(std::move(parts)) {}
  ~Doors() { close_all(); }

  /// How far doors had read when the server ended. To be called before `apply`.
  void restore(const DoorPositions& positions);
  /// Opens the doors that are new, closes those that are gone, and opens those anew whose settings
  /// have changed. Returns what was done, for people. Precondition: `doors::check` found nothing
  /// wrong.
  std::vector<std::string> apply(const doors::Doors& settings);
  /// Takes nothing more in. What still leaves is kept for the next start, or leaves by `finish`.
  void close();
  /// Lets what waits leave, once, and closes all doors.
  void finish();
  std::vector<Door> infos() const;

 private:
  const DoorParts parts_;
  std::map<std::string, std::unique_ptr<Runner>> runners_;
  std::uint64_t last_id_ = std::uint64_t{1} << 63;  // sessions count from 1

  std::mutex mutex_;  // guards what follows
  std::map<std::string, doors::Position> positions_;

  void close_all();
  std::unique_ptr<Runner> make(const std::string& name, const doors::Settings& settings);
};

/// What an operator is told changes where the doors do.
std::vector<std::string> differences(const doors::Doors& before, const doors::Doors& after);

}  // namespace gorgo::server
