#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace gorgo::server {

/// How much longer turns of requests take than estimated: the estimate of a publication knows
/// nothing of the rules that its events meet. Used by one thread.
class Pace {
 public:
  /// A turn that was estimated at `cost` nanoseconds is over.
  void note(std::uint64_t cost, std::chrono::nanoseconds took) {
    constexpr double kMostFactor = 1000;
    if (cost == 0) return;
    const double turn = static_cast<double>(took.count()) / static_cast<double>(cost);
    value_ = std::clamp((value_ + turn) / 2, 1.0, kMostFactor);
  }

  /// At least 1: requests that take less are no reason for larger turns.
  double value() const { return value_; }

 private:
  double value_ = 1;
};

}  // namespace gorgo::server
