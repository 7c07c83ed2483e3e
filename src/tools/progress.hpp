#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace gorgo::tools {

/// A line on stderr that says how far a long run is; nothing where stderr is no terminal.
class Progress {
 public:
  Progress();

  /// Shows the count, at most a few times a second.
  void show(std::uint64_t events);
  /// Shows a text of one line, at once.
  void show(std::string_view text);
  /// Shows what part of a file has been read, from 0 to 1, and how many events it had; as often as
  /// a count.
  void show(double part, std::uint64_t events);
  /// Whether a count would be shown now.
  bool is_due();
  /// Takes the line away, so that something else can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_, next_;
};

}  // namespace gorgo::tools
