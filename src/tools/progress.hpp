#pragma once

#include <chrono>
#include <cstdint>

namespace gorgo::tools {

/// A line on stderr that says how far a long run is; nothing where stderr is no terminal.
class Progress {
 public:
  Progress();

  /// Shows the count, at most a few times a second.
  void show(std::uint64_t events);
  /// Takes the line away, so that something else can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_, next_;
};

}  // namespace gorgo::tools
