#pragma once

#include <chrono>

#include "gorgo/value.hpp"

namespace gorgo::dispatch {

/// Measures the time that the evaluation of one rule takes in any second.
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
  /// Whether the rule has taken more than it may, and the second is not over.
  bool is_used_up(Clock::time_point now) const { return used_up_ && now - since_ < kPeriod; }

 private:
  static constexpr std::chrono::seconds kPeriod{1};

  Clock::time_point since_;
  double spent_ = 0;
  bool used_up_ = false;
};

}  // namespace gorgo::dispatch
