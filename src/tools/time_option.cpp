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

}  // namespace

CLI::Option* as_time(CLI::Option* option) {
  const CLI::AsNumberWithUnit unit(units(), CLI::AsNumberWithUnit::UNIT_REQUIRED, "TIME");
  const auto not_negative = [](const std::string& nanoseconds) {
    return nanoseconds.starts_with('-') ? "a time is not negative" : "";
  };
  return option->transform(unit)->check(not_negative);
}

}  // namespace gorgo::tools
