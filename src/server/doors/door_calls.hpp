#pragma once

#include <functional>
#include <string>

namespace gorgo::server {

/// What the engine thread has the doors do. Each returns at once, and they are carried out in their
/// order on the thread that the doors belong to.
struct DoorCalls {
  /// Whether the configuration has a door of the name, too.
  using Closed = std::function<void(bool is_configured)>;

  /// A door is to be open with the keys of this text.
  std::function<void(const std::string& name, const std::string& text)> open;
  /// A declared door is to close. `then` is called on the engine thread behind everything that the
  /// door has asked the engine for.
  std::function<void(const std::string& name, Closed then)> close;
  /// A door that was closed will not come back. `forget`: nor does its position count any more.
  std::function<void(const std::string& name, bool forget)> remove;
};

}  // namespace gorgo::server
