#pragma once

#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"
#include "gorgo/value.hpp"

/// Timestamps as text. They never pass through a double, so every nanosecond survives the round
/// trip.
namespace gorgo::codec {

/// Milliseconds as a decimal number: `1000`, `-2.5`, `1000.000001`; at most six decimals.
Result<Timestamp> parse_milliseconds(std::string_view text);
/// A number of units of 10^-`decimals` seconds since 1970, 0 to 9, that is spelt like one of
/// milliseconds.
Result<Timestamp> parse_epoch(std::string_view text, int decimals);
/// The timestamp of a whole number of milliseconds; an error when it is out of range.
Result<Timestamp> from_milliseconds(std::int64_t milliseconds);
/// `2024-05-01T12:00:00.5+02:00`: up to nine decimals, an offset or `Z` is mandatory.
Result<Timestamp> parse_rfc3339(std::string_view text);
/// Reads a text in either of the two forms.
Result<Timestamp> parse_timestamp(std::string_view text);

/// Milliseconds, whole when whole, else with as many decimals as needed.
void append_milliseconds(std::string& out, Timestamp timestamp);
/// `2024-05-01T10:00:00.5Z`, with as many decimals as needed.
void append_rfc3339(std::string& out, Timestamp timestamp);

}  // namespace gorgo::codec
