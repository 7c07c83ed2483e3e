#include "dispatch/comparison.hpp"

#include <algorithm>
#include <limits>

namespace gorgo::dispatch {

void Comparison::add(std::uint64_t terminators, double own, double other) {
  ratios_.push_back(own > 0 ? other / own : std::numeric_limits<double>::infinity());
  terminators_ += terminators;
  own_ += own;
  other_ += other;
}

bool Comparison::is_enough() const {
  constexpr std::size_t kBatches = 16;
  constexpr double kTime = 5e6;
  return ratios_.size() >= kBatches || other_ > kTime;
}

double Comparison::ratio() const {
  std::vector<double> sorted = ratios_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace gorgo::dispatch
