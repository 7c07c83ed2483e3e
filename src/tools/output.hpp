#pragma once

#include <string>

#include "gorgo/diagnostics.hpp"

namespace gorgo::tools {

/// Hands over everything that was printed on standard output. An error: some of it, printed at any
/// time, could not be written. A command that runs for long asks now and then; main.cpp asks at the
/// end of every command and reports the error.
Result<void> flush_output();

/// Says on stderr why the command cannot do what was asked for; returns kFailure.
int fail(const std::string& message);
int fail(const Error& error);

/// Says on stderr what a user should know of a command that goes on.
void note(const std::string& message);

/// Says on stderr why the command line cannot be meant so; returns kUsage.
int misuse(const Error& error);

/// Diagnostics as lines of JSON on standard output where the format is "json", else as text on
/// stderr.
void print_diagnostics(const Diagnostics& diagnostics, const std::string& format = "text");

/// The error of a write to standard output that failed with `code`, an errno.
Error cannot_write_output(int code);

}  // namespace gorgo::tools
