#pragma once

#include <span>

#include "base/int128.hpp"
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

/// What the clocks of the zone show at this time, in nanoseconds: as many as UTC is behind them or
/// ahead of them more or less than the time.
Int128 local_time_at(Timestamp time, const date::time_zone* zone);
/// The instant when the clocks of the zone first showed `local`; if they never did, the instant
/// when they went past it.
Int128 instant_of_local(Int128 local, const date::time_zone* zone);

}  // namespace gorgo::functions
