#pragma once

#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"
#include "gorgo/event.hpp"

/// Events as people write them in rule tests: `@1000 Temp(area="A1", value=46.5)`, the time in
/// milliseconds. A value is an int or a float by its spelling; NaN, Infinity and -Infinity are
/// floats; strings are written as in JSON.
namespace gorgo::codec {

/// Takes `@TIME` from the front of `text` and leaves what follows it.
Result<Timestamp> take_time(std::string_view& text);
/// Takes an event from the front of `text` and leaves what follows it.
Result<Event> take_event(std::string_view& text);
/// Takes an event without a timestamp, `Temp(area="A1")`, from the front of `text` and leaves what
/// follows it.
Result<Event> take_unstamped_event(std::string_view& text);

/// The one spelling of an event: equal texts mean equal events, bit for bit but for NaNs.
std::string notation_of(const Event& event);

}  // namespace gorgo::codec
