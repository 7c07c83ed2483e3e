#include "tools/time_option.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "gorgo/value.hpp"
#include "language/literal.hpp"

namespace gorgo::tools {

namespace {

/// Those of the language.
std::map<std::string, Duration> units() {
  std::map<std::string, Duration> lengths;
  for (const std::string& unit : language::unit_names()) {
    lengths.emplace(unit, *language::unit_length(unit));
  }
  return lengths;
}

/// Makes nanoseconds of a time. Returns what is wrong with it, or nothing.
std::string to_nanoseconds(std::string& text) {
  static const CLI::AsNumberWithUnit kNumber(units(), CLI::AsNumberWithUnit::UNIT_REQUIRED);
  const std::string said = text;
  try {
    if (kNumber(text).empty()) return "";
  } catch (const CLI::ValidationError&) {
    // It names neither the text nor, in few words, the units.
  }
  return "'" + said +
         "' is no time: write a whole number and us, ms, s, min, h or d, such as 500ms or 3h";
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
