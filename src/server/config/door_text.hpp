#pragma once

#include <string>

#include "doors/settings.hpp"

namespace gorgo::server {

/// Reads the keys of a door from a text in TOML: what stands below `[doors.NAME]` in a
/// configuration. An error says where it stands; see `doors::check` for what it does not find.
Result<doors::Settings> read_door(const std::string& name, const std::string& text);

}  // namespace gorgo::server
