#pragma once

#include <nlohmann/json.hpp>

#include "gorgo/action.hpp"
#include "gorgo/door.hpp"

/// What the server tells of itself, as JSON: the same over HTTP and from commands.
namespace gorgo::protocol {

nlohmann::ordered_json to_json(const Door& door);
nlohmann::ordered_json to_json(const ActionTarget& target);

}  // namespace gorgo::protocol
