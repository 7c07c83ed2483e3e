#pragma once

#include <chrono>
#include <cstdint>

#include "gorgo/value.hpp"

namespace gorgo::dispatch {

/// Limits the time that the evaluation of one rule takes in any second. A rule that takes more is
/// suspended until the second is over.
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
    suspended_ = spent_ > static_cast<double>(most);
  }
  bool is_suspended(Clock::time_point now) const { return suspended_ && now - since_ < kPeriod; }

  void pass_over(std::uint64_t terminators) { passed_over_ += terminators; }
  std::uint64_t passed_over() const { return passed_over_; }

 private:
  static constexpr std::chrono::seconds kPeriod{1};

  Clock::time_point since_;
  double spent_ = 0;
  bool suspended_ = false;
  std::uint64_t passed_over_ = 0;
};

}  // namespace gorgo::dispatch
