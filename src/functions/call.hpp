#pragma once

#include <span>

#include "functions/prepared.hpp"
#include "gorgo/function.hpp"
#include "gorgo/value.hpp"

namespace gorgo::functions {

/// The value of a call. The arguments have the types that the signature asks for, or no value.
/// Except for `exists`, `coalesce` and `if`, a function has no value when an argument has none.
/// `prepared` may be null where no argument is a pattern or a zone. Strings of the result lie in an
/// argument or in the innermost `ComputedTexts`, which must be there when the result is a string.
/// Thread-safe; equal arguments give equal results on every machine.
Datum call(Function function, std::span<const Datum> arguments, const Prepared* prepared);

}  // namespace gorgo::functions
