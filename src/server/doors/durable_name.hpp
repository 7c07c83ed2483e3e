#pragma once

#include <string>

namespace gorgo::server {

/// What the names of the durable subscriptions of sinks begin with, and those of no client do.
inline constexpr const char* kDoorPrefix = "door ";

/// The durable subscription by which events wait for a sink.
inline std::string durable_of(const std::string& door) { return kDoorPrefix + door; }

}  // namespace gorgo::server
