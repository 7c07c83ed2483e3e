#pragma once

#include <string>
#include <string_view>

namespace gorgo::server {

/// What the names of the durable subscriptions of sinks and of targets of actions begin with, and
/// those of no client do.
inline constexpr const char* kDoorPrefix = "door ";
inline constexpr const char* kActionPrefix = "action ";

/// The durable subscription by which events wait for a sink.
inline std::string durable_of(const std::string& door) { return kDoorPrefix + door; }
/// The one by which events wait for a target, as rules name it: `webhook("ops")`.
inline std::string durable_of_action(const std::string& target) { return kActionPrefix + target; }

inline bool is_of_server(std::string_view durable) {
  return durable.starts_with(kDoorPrefix) || durable.starts_with(kActionPrefix);
}

}  // namespace gorgo::server
