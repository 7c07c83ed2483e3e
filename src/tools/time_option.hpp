#pragma once

namespace CLI {
class Option;
}

namespace gorgo::tools {

/// Makes a time of the option, a `Duration`: a number with its unit, such as 500ms, 10s or 1min.
/// Checks that are added later see nanoseconds.
CLI::Option* as_time(CLI::Option* option);

}  // namespace gorgo::tools
