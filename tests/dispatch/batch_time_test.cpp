#include "dispatch/evaluate/batch_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gorgo::dispatch {
namespace {

constexpr double kTarget = 10e6;

/// The roots of a batch behind so many batches whose sizes followed from what was known, beginning
/// with 100 000 roots. From one batch to the next they may double at most.
double roots_after(int batches, double fixed, double each, double target = kTarget) {
  BatchTime time;
  double roots = 100'000;
  for (int i = 0; i < batches; ++i) {
    time.add(static_cast<std::size_t>(roots), fixed + each * roots);
    roots = std::clamp(time.roots_within(target), 1.0, 2 * roots);
  }
  return roots;
}

TEST(BatchTime, OfRootsAloneKeepsToTheTarget) {
  EXPECT_DOUBLE_EQ(roots_after(1, 0, 1000), 10'000);
  EXPECT_NEAR(roots_after(30, 0, 1000), 10'000, 1);
}

TEST(BatchTime, LeavesToRootsWhatTheFixedPartLeavesOfTheTarget) {
  EXPECT_NEAR(roots_after(30, 4e6, 1000), 6'000, 60);
}

/// Each batch has a long fixed part, as where it brings all columns to a device. If it shrank in
/// proportion to its time, each batch would be shorter than the one before, down to a single root.
TEST(BatchTime, DoesNotShrinkBatchesWhoseFixedPartIsLongerThanTheTarget) {
  for (const int batches : {2, 3, 5, 10, 100}) {
    EXPECT_GE(roots_after(batches, 50e6, 1000), 12'000) << batches;
  }
  EXPECT_NEAR(roots_after(100, 50e6, 1000), 50'000, 500);
}

TEST(BatchTime, FollowsRootsThatBecomeDearer) {
  BatchTime time;
  for (int i = 0; i < 10; ++i) time.add(i % 2 == 0 ? 10'000 : 5'000, i % 2 == 0 ? 10e6 : 5e6);
  EXPECT_NEAR(time.roots_within(kTarget), 10'000, 10);
  for (int i = 0; i < 60; ++i) time.add(i % 2 == 0 ? 1'000 : 500, i % 2 == 0 ? 10e6 : 5e6);
  EXPECT_NEAR(time.roots_within(kTarget), 1'000, 10);
}

TEST(BatchTime, AllowsOneRootAtLeast) { EXPECT_EQ(roots_after(10, 0, 1e9, 1), 1); }

}  // namespace
}  // namespace gorgo::dispatch
