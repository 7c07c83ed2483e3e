#pragma once

#include <string>

#include "gorgo/result.hpp"

namespace date {
class time_zone;
}

namespace gorgo::codec {

/// The time zone of this name from the system's database (IANA), which lives as long as the
/// process. Null: UTC, which an empty name, `UTC` and `Z` mean. The error names the remedy.
/// Thread-safe.
Result<const date::time_zone*> find_zone(const std::string& name);

}  // namespace gorgo::codec
