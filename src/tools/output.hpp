#pragma once

#include "gorgo/diagnostics.hpp"

namespace gorgo::tools {

/// Hands over everything that was printed on standard output. An error: some of it, printed at any
/// time, could not be written. A command that runs for long asks now and then; main.cpp asks at the
/// end of every command and reports the error.
Result<void> flush_output();

/// The error of a write to standard output that failed with `code`, an errno.
Error cannot_write_output(int code);

}  // namespace gorgo::tools
