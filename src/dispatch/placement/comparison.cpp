#include "dispatch/placement/comparison.hpp"

#include <algorithm>
#include <limits>

namespace gorgo::dispatch {

void Comparison::add(std::uint64_t terminators, double own, double other) {
  ratios_.push_back(own > 0 ? other / own : std::numeric_limits<double>::infinity());
  terminators_ += terminators;
  own_ += own;
  other_ += other;
}

bool Comparison::is_enough(double even) const {
  constexpr std::size_t kBatches = 8, kFew = 3;
  constexpr double kTime = 5e6;  // nanoseconds
  constexpr double kClear = 2;   // times as good
  if (ratios_.size() >= kBatches || own_ > kBatches * kTime || other_ > kTime) return true;
  if (is_surely_better(even)) return true;
  const auto [least, most] = std::ranges::minmax(ratios_);
  return ratios_.size() >= kFew && (most * kClear < even || least > kClear * even);
}

bool Comparison::is_surely_better(double even) const {
  constexpr double kTimes = 4;
  return std::ranges::max(ratios_) * kTimes < even;
}

double Comparison::ratio() const {
  std::vector<double> sorted = ratios_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace gorgo::dispatch
