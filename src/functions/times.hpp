#pragma once

#include <span>

#include "gorgo/function.hpp"
#include "gorgo/value.hpp"

namespace date {
class time_zone;
}

namespace gorgo::functions {

/// `year` to `truncate`; every argument has a value, and the first is nanoseconds since the Unix
/// epoch. `zone` null: UTC. The calendar is the Gregorian one, before its introduction, too. A
/// result beyond the range of timestamps is no value. `date` gives a string in the innermost
/// `ComputedTexts`.
Datum call_on_time(Function function, std::span<const Datum> arguments,
                   const date::time_zone* zone);

}  // namespace gorgo::functions
