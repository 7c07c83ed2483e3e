#pragma once

#include <cstdint>
#include <vector>

namespace gorgo::dispatch {

/// Compares what the terminators of the same batches cost on a rule's own engine and on another
/// one.
class Comparison {
 public:
  /// Adds a batch; the costs are in nanoseconds. Precondition: there are terminators.
  void add(std::uint64_t terminators, double own, double other);
  /// Whether there are enough batches to judge by; few are enough where they leave no doubt.
  /// `even`: the ratio at which both engines are equally good.
  bool is_enough(double even) const;
  /// Whether the other engine is so much better that a single batch proves it.
  bool is_surely_better(double even) const;
  /// What the other engine costs as a part of what the own one costs. It is the median over the
  /// batches, so a few that were slow for whatever reason do not matter. Precondition: there are
  /// batches.
  double ratio() const;
  /// What a terminator takes on average, in the unit of what was added.
  double own() const { return own_ / static_cast<double>(terminators_); }
  /// How many there were at a time, on average.
  double batch() const {
    return static_cast<double>(terminators_) / static_cast<double>(ratios_.size());
  }

 private:
  std::vector<double> ratios_;
  std::uint64_t terminators_ = 0;
  double own_ = 0, other_ = 0;
};

}  // namespace gorgo::dispatch
