#pragma once

#include <chrono>
#include <cstdint>

namespace gorgo::server {

/// How often something has happened in a second of late: over the last whole second or more between
/// two looks. A pure function of the times that it is given. One thread.
class RecentRate {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RecentRate(Time start) : since_(start) {}

  void add(std::uint64_t times) { total_ += times; }
  /// To be called now and then.
  void look(Time now) {
    if (now - since_ < std::chrono::seconds(1)) return;
    const std::chrono::duration<double> passed = now - since_;
    per_second_ = static_cast<double>(total_ - before_) / passed.count();
    before_ = total_;
    since_ = now;
  }

  std::uint64_t total() const { return total_; }
  double per_second() const { return per_second_; }

 private:
  Time since_;
  std::uint64_t total_ = 0, before_ = 0;
  double per_second_ = 0;
};

}  // namespace gorgo::server
