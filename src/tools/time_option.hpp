#pragma once

namespace CLI {
class Option;
}

namespace gorgo::tools {

/// Has the option, a `Duration`, take a number with its unit, such as 500ms, 10s or 1min. Checks
/// that are added later see nanoseconds.
CLI::Option* as_time(CLI::Option* option);

}  // namespace gorgo::tools
