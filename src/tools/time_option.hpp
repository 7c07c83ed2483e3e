#pragma once

namespace CLI {
class Option;
}

namespace gorgo::tools {

/// Has the option, a `Duration`, take a number with its unit, such as 500ms or 3h. Both are
/// written as in rules. Checks that are added later see nanoseconds.
CLI::Option* as_time(CLI::Option* option);

}  // namespace gorgo::tools
