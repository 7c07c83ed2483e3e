#pragma once

#include <cstdint>
#include <vector>

namespace gorgo::dispatch {

/// What the terminators of the same batches cost on a rule's own engine and on another one.
class Comparison {
 public:
  /// A batch, in nanoseconds. Precondition: there are terminators.
  void add(std::uint64_t terminators, double own, double other);
  /// Whether there are enough batches to judge by, if both are equally good at this ratio: few,
  /// where they leave no doubt.
  bool is_enough(double even) const;
  /// Whether the other engine is so much better that one batch says so.
  bool is_surely_better(double even) const;
  /// What the other engine costs as a part of what the own one does: in the middle one of the
  /// batches, to which it does not matter how slow a few of them were for whatever reason.
  /// Precondition: there are batches.
  double ratio() const;
  /// Nanoseconds of a terminator, of one thread, on average.
  double own() const { return own_ / static_cast<double>(terminators_); }
  double other() const { return other_ / static_cast<double>(terminators_); }

 private:
  std::vector<double> ratios_;
  std::uint64_t terminators_ = 0;
  double own_ = 0, other_ = 0;
};

}  // namespace gorgo::dispatch
