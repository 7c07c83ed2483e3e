#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace gorgo::server {

/// Writes lines to stderr, and does not wait for whoever reads them: a reader that hangs must not
/// have the server hang. When nobody has made room for a moment, lines are lost until there is room
/// again. One thread at a time; `lost` any thread.
class LogOutput {
 public:
  explicit LogOutput(int file) : file_(file) {}

  void write(std::string_view line);
  /// How many lines were lost and not told of yet. Zero while there is no room to tell.
  std::uint64_t take_lost();

 private:
  const int file_;
  bool is_stuck_ = false;
  std::atomic<std::uint64_t> lost_ = 0;

  bool await_room(int milliseconds) const;
  bool put(std::string_view line);
};

}  // namespace gorgo::server
