#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gorgo::server {

/// The doors that clients have declared: by name, the keys as a client has sent them.
using DeclaredDoors = std::map<std::string, std::string>;

/// How far each door has read, as far as its events were taken. The journal has a position in the
/// frame of the events before it, so the two are never apart. Belongs to the engine thread.
class DoorPositions {
 public:
  /// What it means only the door knows.
  using Position = std::vector<std::uint8_t>;

  const std::map<std::string, Position>& all() const { return positions_; }

  std::optional<Position> find(const std::string& door) const {
    const auto known = positions_.find(door);
    return known == positions_.end() ? std::nullopt : std::optional(known->second);
  }

  void set(const std::string& door, std::span<const std::uint8_t> position) {
    positions_.insert_or_assign(door, Position(position.begin(), position.end()));
  }

  void forget(const std::string& door) { positions_.erase(door); }

  /// Takes a `set` back. `before`: what `find` returned before it.
  void retract(const std::string& door, std::optional<Position> before) {
    if (before) {
      positions_.insert_or_assign(door, std::move(*before));
    } else {
      positions_.erase(door);
    }
  }

 private:
  std::map<std::string, Position> positions_;
};

}  // namespace gorgo::server
