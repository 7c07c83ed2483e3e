#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

namespace gorgo::history {

/// What it takes to keep something up to date that several share, in nanoseconds by the clock on
/// the wall. Any thread may read it and add to it.
class Upkeep {
 public:
  /// Nanoseconds so far, divided among those who held it meanwhile. Whoever holds it all the time
  /// may take differences.
  double each() const { return each_.load(std::memory_order_relaxed); }
  void add(double nanoseconds) { each_.fetch_add(nanoseconds, std::memory_order_relaxed); }

 private:
  std::atomic<double> each_ = 0;
};

/// Measures work from here to the end of its scope, or nothing.
class UpkeepTimer {
 public:
  /// Adds the time, times `weight`, to the upkeep. A weight of 0: nothing is measured.
  UpkeepTimer(Upkeep& upkeep, double weight) : upkeep_(upkeep), weight_(weight) {
    if (weight_ > 0) start_ = Clock::now();
  }
  ~UpkeepTimer() {
    if (weight_ == 0) return;
    upkeep_.add(std::chrono::duration<double, std::nano>(Clock::now() - start_).count() * weight_);
  }
  UpkeepTimer(const UpkeepTimer&) = delete;
  UpkeepTimer& operator=(const UpkeepTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  Upkeep& upkeep_;
  const double weight_;
  Clock::time_point start_;
};

/// Says which pieces of work are worth a look at the clock: all that are large, and of small ones
/// one in so many.
class Sampler {
 public:
  /// How many times such a piece counts; 0: it is not measured.
  double weight(std::size_t events) {
    if (events >= kOf) return 1;
    return ++small_ % kOf == 0 ? kOf : 0;
  }

 private:
  static constexpr unsigned kOf = 16;
  unsigned small_ = 0;
};

}  // namespace gorgo::history
