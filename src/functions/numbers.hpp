#pragma once

#include <span>

#include "gorgo/function.hpp"
#include "gorgo/value.hpp"

namespace gorgo::functions {

/// `abs` to `geo_distance`; every argument has a value. `exp`, `ln`, `log10`, `pow`, `sin`, `cos`
/// and `atan2` are correctly rounded: their result is the float nearest to the exact one, so that
/// it does not depend on the machine.
Datum call_on_numbers(Function function, std::span<const Datum> arguments);

}  // namespace gorgo::functions
