#include "tools/time_option.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gorgo/value.hpp"
#include "language/literal.hpp"
#include "tools/number_text.hpp"

namespace gorgo::tools {

namespace {

/// A number and a unit as rules have them: `3h`, `3 H`, `5 min.`; nothing where it is none.
std::optional<Duration> duration_in(std::string_view text) {
  const auto behind =
      std::min(text.find_first_not_of("0123456789", text.starts_with('-') ? 1 : 0), text.size());
  const auto count = number<std::int64_t>(text.substr(0, behind));
  std::string_view unit = text.substr(behind);
  unit.remove_prefix(std::min(unit.find_first_not_of(" \t"), unit.size()));
  if (unit.ends_with('.')) unit.remove_suffix(1);
  const auto length = language::unit_length(unit);
  Duration duration = 0;
  const bool fits = count && length && !__builtin_mul_overflow(*count, *length, &duration);
  return fits ? std::optional(duration) : std::nullopt;
}

/// Makes nanoseconds of a time. Returns what is wrong with it, or nothing.
std::string to_nanoseconds(std::string& text) {
  const auto duration = duration_in(text);
  if (!duration) {
    return "'" + text +
           "' is no time: write a whole number and us, ms, s, min, h or d, such as 500ms or 3h";
  }
  text = std::to_string(*duration);
  return "";
}

}  // namespace

CLI::Option* as_time(CLI::Option* option) {
  const CLI::Validator unit(to_nanoseconds, "TIME");
  const auto not_negative = [](const std::string& nanoseconds) {
    return nanoseconds.starts_with('-') ? "a time is not negative" : "";
  };
  return option->transform(unit)->check(not_negative);
}

}  // namespace gorgo::tools
