#include "tools/time_option.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "gorgo/value.hpp"

namespace gorgo::tools {

CLI::Option* as_time(CLI::Option* option) {
  const CLI::AsNumberWithUnit unit(
      std::map<std::string, Duration>{
          {"ms", 1'000'000}, {"s", 1'000'000'000}, {"min", 60'000'000'000}},
      CLI::AsNumberWithUnit::UNIT_REQUIRED, "TIME");
  const auto not_negative = [](const std::string& nanoseconds) {
    return nanoseconds.starts_with('-') ? "a time is not negative" : "";
  };
  return option->transform(unit)->check(not_negative);
}

}  // namespace gorgo::tools
