#pragma once

#include <string_view>

#include "gorgo/diagnostics.hpp"
#include "gorgo/value.hpp"

namespace gorgo::tools {

/// Takes SIGINT and SIGTERM as a request to stop, for a tool of one thread that writes to a pipe
/// and waits. One object per process; construct it before any thread starts. While it lives the
/// two signals are delivered to nobody else, and writing to a closed pipe is an error instead of
/// SIGPIPE.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Waits so long, or less if a signal comes. False: it was a signal to stop.
  bool wait(Duration duration);
  /// Writes all of `bytes` to standard output. False: a signal came or the reader left.
  Result<bool> write(std::string_view bytes);

 private:
  int signals_ = -1;
};

}  // namespace gorgo::tools
