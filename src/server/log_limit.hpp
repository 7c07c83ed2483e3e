#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace gorgo::server {

/// Keeps something that happens often from filling the log: a line at most every `kPause`, which
/// says how often it happened since the line before.
///
///     if (const auto times = limit.note()) log.warning("bad frame", {{"count", *times}});
///
/// One object for each thing and each client. Used by one thread.
class LogLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kPause{10};

  /// Counts `times` more, which may be none. With a value, a line is due, and the value is how
  /// often it happened since the last line, these times included.
  std::optional<std::uint64_t> note(std::uint64_t times = 1,
                                    Time now = std::chrono::steady_clock::now()) {
    unsaid_ += times;
    if (unsaid_ == 0 || now < silent_until_) return std::nullopt;
    silent_until_ = now + kPause;
    return take_unsaid();
  }

  /// What no line has told, for a last line at the end. From then on it counts as told.
  std::uint64_t take_unsaid() { return std::exchange(unsaid_, 0); }

 private:
  std::uint64_t unsaid_ = 0;
  Time silent_until_ = Time::min();
};

}  // namespace gorgo::server
