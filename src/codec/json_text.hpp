#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "gorgo/value.hpp"

/// JSON whose times are exact. The numbers of nlohmann's JSON are doubles, which cannot hold every
/// nanosecond of these years, so that a time that went through one would not be found again.
namespace gorgo::codec {

/// Milliseconds, as `append_milliseconds` writes them. Only `json_text` writes it as a number.
nlohmann::ordered_json exact_milliseconds(Timestamp timestamp);

/// The text of it; `indent` is that of `dump`. Bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace gorgo::codec
