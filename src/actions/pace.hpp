#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

namespace gorgo::actions {

using Time = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

/// How long to wait after so many failed attempts: any time up to a bound that doubles from one
/// second to a minute, so that what failed together does not come back together.
template <class Random>
milliseconds pause_after(unsigned failures, Random& random) {
  constexpr std::int64_t kFirst = 1000, kLongest = 60'000;
  constexpr unsigned kDoublings = 6;
  const std::int64_t bound =
      std::min(kFirst << std::min(failures > 0 ? failures - 1 : 0, kDoublings), kLongest);
  return milliseconds(std::uniform_int_distribution<std::int64_t>(0, bound)(random));
}

/// Bounds how often something is done: what a minute allows at once, and then as the minute goes.
class RateLimit {
 public:
  /// 0: no limit.
  explicit RateLimit(std::int64_t per_minute)
      : most_(static_cast<double>(per_minute)), left_(most_) {}

  /// How many of `wanted` may be done now.
  std::size_t admits(std::size_t wanted, Time now) {
    if (most_ <= 0) return wanted;
    const double minutes = std::chrono::duration<double, std::ratio<60>>(now - filled_).count();
    left_ = std::min(most_, left_ + minutes * most_);
    filled_ = now;
    return std::min(wanted, static_cast<std::size_t>(left_));
  }
  void take(std::size_t done) { left_ -= most_ <= 0 ? 0 : static_cast<double>(done); }
  /// When the next one is admitted, after `admits` has said none.
  Time next() const {
    const double minutes = most_ <= 0 ? 0 : std::max(0.0, (1 - left_) / most_);
    return filled_ +
           std::chrono::ceil<milliseconds>(std::chrono::duration<double, std::ratio<60>>(minutes));
  }

 private:
  const double most_;
  double left_;
  Time filled_ = std::chrono::steady_clock::now();
};

/// Watches whether a target works, and keeps attempts from one that does not: after some failures
/// in a row it lets one through at a time, and the next one only after a pause.
class CircuitBreaker {
 public:
  static constexpr unsigned kFailures = 5;

  void succeeded() { failures_ = trials_ = 0; }
  template <class Random>
  void failed(Time now, Random& random) {
    // Attempts that began before it opened say nothing new.
    if (is_open() && now < next_) return;
    constexpr milliseconds kShortest{100};
    if (++failures_ < kFailures) return;
    next_ = now + std::max(kShortest, pause_after(++trials_, random));
  }

  bool is_open() const { return failures_ >= kFailures; }
  /// How many attempts may begin now, of `wanted` ones.
  std::size_t admits(std::size_t wanted, Time now) const {
    if (!is_open()) return wanted;
    return now >= next_ ? std::min<std::size_t>(wanted, 1) : 0;
  }
  /// When it lets the next one through. Precondition: it is open.
  Time next() const { return next_; }

 private:
  unsigned failures_ = 0;  // in a row
  unsigned trials_ = 0;    // since it opened
  Time next_ = {};
};

}  // namespace gorgo::actions
