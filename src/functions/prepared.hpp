#pragma once

#include <re2/re2.h>

#include <cstddef>
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

/// How large the patterns of a text may be together, in instructions of RE2. To compile one takes
/// as long as it is large: 0.4 us for each instruction.
struct PatternRoom {
  static constexpr std::size_t kOfText = 50'000;

  std::size_t instructions = kOfText;
};

/// Reads a literal argument of `function`. The error says what is wrong with the literal and what
/// to write instead. `room`: a pattern takes of it what it needs; null: each may be as large as RE2
/// allows.
Result<Prepared> prepare(Function function, Parameter parameter, const std::string& literal,
                         PatternRoom* room = nullptr);

/// Nanoseconds since the Unix epoch of an RFC 3339 text.
Result<std::int64_t> instant_of(const std::string& text);

}  // namespace gorgo::functions
