#include "dispatch/evaluate/batch_time.hpp"

#include <algorithm>

namespace gorgo::dispatch {

void BatchTime::add(std::size_t roots, double took) {
  constexpr double kKept = 0.75;  // the part of their weight that earlier batches keep
  // Relative to the mean: sizes that differ less say nothing about the fixed part, since times
  // vary, too.
  constexpr double kLeastSpread = 0.25;
  const auto count = static_cast<double>(roots);
  weight_ = kKept * weight_ + 1;
  roots_ = kKept * roots_ + count;
  took_ = kKept * took_ + took;
  roots_squared_ = kKept * roots_squared_ + count * count;
  product_ = kKept * product_ + count * took;
  const double mean = roots_ / weight_;
  const double variance = roots_squared_ / weight_ - mean * mean;
  if (variance < kLeastSpread * kLeastSpread * mean * mean) return;
  // Fits a line through the batches by least squares.
  const double each = (product_ / weight_ - mean * took_ / weight_) / variance;
  fixed_ = std::max(0.0, took_ / weight_ - std::max(0.0, each) * mean);
}

double BatchTime::roots_within(double target) const {
  const double all = took_ / weight_;
  const double fixed = std::min(fixed_, all);
  const double each = std::max(1.0, (all - fixed) * weight_ / roots_);
  return std::max(1.0, std::max(target - fixed, fixed) / each);
}

}  // namespace gorgo::dispatch
