#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <string>

#include "functions/catalogue.hpp"
#include "gorgo/diagnostics.hpp"

namespace date {
class time_zone;
}

namespace gorgo::functions {

/// What the literal arguments of a call say, read once. Immutable, so that threads share it.
struct Prepared {
  std::unique_ptr<const RE2> pattern;     ///< of `like` and `matches`
  const date::time_zone* zone = nullptr;  ///< null: UTC
};

/// Reads a literal argument of `function`. The error says what is wrong with the literal and what
/// to write instead.
Result<Prepared> prepare(Function function, Parameter parameter, const std::string& literal);

/// Nanoseconds since the Unix epoch of an RFC 3339 text.
Result<std::int64_t> instant_of(const std::string& text);

}  // namespace gorgo::functions
