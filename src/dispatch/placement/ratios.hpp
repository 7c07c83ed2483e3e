#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "dispatch/placement/tuning.hpp"

namespace gorgo::dispatch {

/// What the same work takes in one way by what it takes in another, measured piece by piece. The
/// middle one counts, so that pieces that were slow for whatever reason do not matter.
class Ratios {
 public:
  void add(double before, double after) {
    const double ratio = before > 0 ? after / before : std::numeric_limits<double>::infinity();
    sorted_.insert(std::ranges::upper_bound(sorted_, ratio), ratio);
  }
  std::size_t size() const { return sorted_.size(); }
  bool empty() const { return sorted_.empty(); }
  /// Precondition: there are pieces.
  double median() const { return sorted_[sorted_.size() / 2]; }
  /// Where the true middle lies, with the certainty of two standard deviations: the rank of the
  /// middle one of n has a standard deviation of half the root of n. Fewer than four pieces tell no
  /// lower bound, and only an upper one that is `tuning::kSurely` times as high.
  double lower() const { return margin() < 0 ? 0 : sorted_[static_cast<std::size_t>(margin())]; }
  double upper() const {
    if (empty()) return std::numeric_limits<double>::infinity();
    if (margin() < 0) return tuning::kSurely * sorted_.back();
    return sorted_[size() - 1 - static_cast<std::size_t>(margin())];
  }
  /// Whether the middle half has both bounds, so that more pieces would hardly tell more.
  bool is_enough() const { return margin() >= static_cast<double>(size()) / 4; }

 private:
  /// How many pieces are left out at each end; below 0: there are too few.
  double margin() const {
    const auto count = static_cast<double>(size());
    return empty() ? -1 : std::floor(count / 2 - std::sqrt(count));
  }

  std::vector<double> sorted_;
};

}  // namespace gorgo::dispatch
