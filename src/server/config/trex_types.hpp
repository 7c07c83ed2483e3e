#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "gorgo/diagnostics.hpp"

namespace gorgo::server {

/// The names of event types by their numbers on the T-Rex wire, of a table that has the numbers as
/// keys. An error where one is no number or no name, or a name stands twice.
Result<std::map<std::int32_t, std::string>> parse_trex_types(
    const std::map<std::string, std::string>& table);
/// The table that the names were read from.
std::map<std::string, std::string> trex_types_table(
    const std::map<std::int32_t, std::string>& types);

}  // namespace gorgo::server
