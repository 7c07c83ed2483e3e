#pragma once

#include <span>

#include "functions/prepared.hpp"
#include "gorgo/function.hpp"
#include "gorgo/value.hpp"

namespace gorgo::functions {

/// `length` to `matches`; every argument has a value. Case is mapped by utf8proc, which maps one
/// code point to one. Strings that functions compute lie in the innermost `ComputedTexts`.
Datum call_on_texts(Function function, std::span<const Datum> arguments, const Prepared* prepared);

}  // namespace gorgo::functions
