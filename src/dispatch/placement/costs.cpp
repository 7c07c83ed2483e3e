#include "dispatch/placement/costs.hpp"

#include <algorithm>

namespace gorgo::dispatch {

void Parallelism::learn(double busy, double took) {
  constexpr double kShare = 0.2, kLong = 5e6;  // weight of the new value, at most
  const double share = std::min(kShare, took / kLong);
  threads_ += share * (std::clamp<double>(busy / took, 1, most_) - threads_);
}

}  // namespace gorgo::dispatch
