#pragma once

#include <algorithm>
#include <chrono>

namespace gorgo::server {

/// Bounds how many units pass in a second on average. A second's worth may pass at once. Something
/// that is larger passes as a whole, and what follows it waits for so much longer. A pure function
/// of the times that it is given. One thread.
class RateLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Wait = std::chrono::steady_clock::duration;

  /// How long nothing may pass; not positive: something may pass at `now`.
  Wait wait(Time now) const { return paid_at_ - now - kBurst; }

  /// Notes that `units` pass. `rate`: units per second, above 0.
  void take(double units, double rate, Time now) {
    const std::chrono::duration<double> cost(std::min(units / rate, kLongest.count()));
    paid_at_ = std::min(std::max(paid_at_, now) + std::chrono::duration_cast<Wait>(cost),
                        now + std::chrono::duration_cast<Wait>(kLongest));
  }

 private:
  static constexpr std::chrono::seconds kBurst{1};
  /// A large publication and a low rate together make nobody wait for longer.
  static constexpr std::chrono::duration<double> kLongest{86400};

  /// When all that has passed is paid for, at the rate of the time when it passed.
  Time paid_at_ = {};
};

}  // namespace gorgo::server
