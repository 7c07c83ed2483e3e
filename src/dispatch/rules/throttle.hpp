#pragma once

#include <chrono>

#include "gorgo/value.hpp"

namespace gorgo::dispatch {

/// Measures the time that the evaluation of one rule takes in any second, and says for how long the
/// rule is to be suspended.
class Throttle {
 public:
  using Clock = std::chrono::steady_clock;

  /// Adds nanoseconds that threads have spent on the rule. They may spend `most` in a second.
  void spend(double nanoseconds, Duration most, Clock::time_point now) {
    if (now - since_ >= kPeriod) {
      since_ = now;
      spent_ = 0;
    }
    spent_ += nanoseconds;
    used_up_ = spent_ > static_cast<double>(most);
  }
  /// The rule found no memory.
  void starve(Clock::time_point now) { starved_until_ = now + kPause; }
  /// Whether the rule has taken more than it may, and the second is not over; or whether it found
  /// no memory, and it is too early to try again.
  bool is_used_up(Clock::time_point now) const {
    return (used_up_ && now - since_ < kPeriod) || now < starved_until_;
  }

 private:
  static constexpr std::chrono::seconds kPeriod{1};
  /// Each attempt that fails has a server give up its memory reserve and refuse publications for
  /// about a tenth of a second.
  static constexpr std::chrono::seconds kPause{10};

  Clock::time_point since_;
  double spent_ = 0;
  bool used_up_ = false;
  Clock::time_point starved_until_;
};

}  // namespace gorgo::dispatch
