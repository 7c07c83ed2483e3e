#pragma once

#include <span>
#include <string_view>

#include "gorgo/schema.hpp"

/// The types of the events that a server publishes about itself (docs/statistics.md). Nobody else
/// can publish or define types whose names begin so, because no name of others has a dot.
namespace gorgo::language {

inline constexpr std::string_view kServerPrefix = "gorgo.";

inline bool is_server_name(std::string_view type) { return type.starts_with(kServerPrefix); }
/// The types that there are, without numbers.
std::span<const EventType> server_types();
/// Null: there is none of this name.
const EventType* server_type(std::string_view name);

}  // namespace gorgo::language
