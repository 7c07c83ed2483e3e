#pragma once

#include <cstddef>

namespace gorgo::dispatch {

/// Estimates what batches take: a part that is the same for a batch of any size, such as bringing
/// columns to a device that cannot hold them all, and a part in proportion to the roots. Recent
/// batches count most. The first part is taken to be nothing until batches of different sizes have
/// shown it.
class BatchTime {
 public:
  /// Adds a batch of `roots` roots, at least one, that took `took` nanoseconds.
  void add(std::size_t roots, double took);
  /// How many roots a batch may have, at least one, to take no longer than `target` nanoseconds. A
  /// target that leaves less than the fixed part for the roots would cost throughput and hardly
  /// make batches faster; in that case the roots may take as long as the fixed part. Precondition:
  /// a batch was added.
  double roots_within(double target) const;

 private:
  double weight_ = 0, roots_ = 0, took_ = 0;  // sums over batches
  double roots_squared_ = 0, product_ = 0;
  double fixed_ = 0;
};

}  // namespace gorgo::dispatch
