#include <unistd.h>

#include "doors/kind.hpp"
#include "doors/lines/stdin_source.hpp"

namespace gorgo::doors {

Kind stdin_kind() {
  return {.name = "stdin",
          .keys = {},
          .has_lines = true,
          .target = &Settings::kind,
          .check = [](const Settings&) -> Result<void> { return {}; },
          .exclusive = [](const Settings&) -> std::string { return "the standard input"; },
          .make_source = [](const std::string&, const Settings& settings, const Types& types,
                            const Position&) -> Result<std::unique_ptr<Source>> {
            return {std::in_place, std::make_unique<StdinSource>(settings, types, STDIN_FILENO)};
          }};
}

}  // namespace gorgo::doors
