#pragma once

#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"
#include "gorgo/event.hpp"

/// The event line: `{"type":"Temp","ts":1000,"attrs":{"area":"A1","value":46.5}}`; or a tick, a
/// timestamp without an event: `{"tick":1000}`.
namespace gorgo::codec {

/// Whether the event stands for a tick: it has a timestamp and no type.
inline bool is_tick(const Event& event) { return event.type.empty(); }

/// Reads one line into `event`, whose memory is reused; unspecified after an error. `ts` is in
/// milliseconds or an RFC 3339 string and may be absent, as `attrs` may; `tick` is written as `ts`
/// is. A number is an int or a float by its spelling. The float names "NaN", "Infinity" and
/// "-Infinity" stay strings, because only the processor knows the schema and can tell.
Result<void> read_event_line(std::string_view line, Event& event);
Result<Event> read_event_line(std::string_view line);

/// Appends the event's or tick's line with its newline. Precondition: every attribute has a value.
void append_event_line(std::string& out, const Event& event);

}  // namespace gorgo::codec
