#include "functions/prepared.hpp"

#include <utility>

#include "codec/time_zone.hpp"
#include "codec/timestamp.hpp"

namespace gorgo::functions {
namespace {

/// The regular expression of a pattern of `like`.
std::string expression_of(const std::string& like) {
  std::string expression = "(?s)\\A";
  std::string literal;
  const auto flush = [&] { expression += RE2::QuoteMeta(std::exchange(literal, {})); };
  for (const char c : like) {
    if (c != '%' && c != '_') {
      literal += c;
      continue;
    }
    flush();
    expression += c == '%' ? ".*" : ".";
  }
  flush();
  return expression + "\\z";
}

// With so much, RE2 gives up behind some fifty thousand instructions.
constexpr std::int64_t kMemoryWithinRoom = std::int64_t{1} << 20;

Error too_large() {
  return {"the patterns of this text are too large together",
          "write shorter repetitions, such as \\pL{30} for \\pL{300}; only administrators may have "
          "larger ones"};
}

Result<Prepared> prepare_pattern(Function function, const std::string& literal, PatternRoom* room) {
  RE2::Options options;
  options.set_log_errors(false);
  if (room != nullptr) options.set_max_mem(kMemoryWithinRoom);
  const std::string text = function == Function::like ? expression_of(literal) : literal;
  auto pattern = std::make_unique<const RE2>(text, options);
  if (pattern->error_code() == RE2::ErrorPatternTooLarge && room != nullptr) return too_large();
  if (!pattern->ok()) {
    return Error{"the pattern is no regular expression: " + pattern->error(),
                 "its syntax is that of RE2; a backslash is written twice in a string"};
  }
  if (room != nullptr) {
    const auto size = static_cast<std::size_t>(pattern->ProgramSize());
    if (size > room->instructions) return too_large();
    room->instructions -= size;
  }
  return Prepared{.pattern = std::move(pattern)};
}

}  // namespace

Result<Prepared> prepare(Function function, Parameter parameter, const std::string& literal,
                         PatternRoom* room) {
  if (parameter == Parameter::pattern) return prepare_pattern(function, literal, room);
  const auto zone = codec::find_zone(literal);
  if (!zone) return zone.error();
  return Prepared{.zone = *zone};
}

Result<std::int64_t> instant_of(const std::string& text) { return codec::parse_rfc3339(text); }

}  // namespace gorgo::functions
