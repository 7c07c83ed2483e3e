#include "history/range_index.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "base/arithmetic.hpp"

namespace gorgo::history {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

class RangeIndexTest : public ::testing::TestWithParam<ValueType> {
 protected:
  RangeIndexTest()
      : store_({.name = "T", .attributes = {{"v", GetParam()}}, .origin = TypeOrigin::inferred}),
        index_(0, store_) {}

  Slot add(const Datum& value, Timestamp timestamp = 0) {
    const Slot slot = store_.append(timestamp, 0, {&value, 1});
    index_.add({&slot, 1});
    return slot;
  }

  static RangeIndex::Bounds bounds(Op op, const Datum& operand) {
    RangeIndex::Bounds bounds;
    bounds.restrict_to(op, operand);
    return bounds;
  }

  std::vector<Slot> find(const RangeIndex::Bounds& bounds) const {
    std::vector<Slot> slots;
    EXPECT_TRUE(index_.find(bounds, ~std::size_t{0}, slots));
    std::sort(slots.begin(), slots.end());
    return slots;
  }

  /// What the index finds must be what the comparison accepts.
  void expect_agreement(Op op, const Datum& operand) const {
    std::vector<Slot> expected;
    for (Slot slot = store_.begin(); slot < store_.end(); ++slot) {
      if (arithmetic::compare(op, store_.attribute(slot, 0), operand)) expected.push_back(slot);
    }
    EXPECT_EQ(find(bounds(op, operand)), expected);
  }

  Datum random_value(std::mt19937& random) const {
    static const std::vector<double> floats = {0.0, -0.0, 1.5, -kInfinity, kInfinity, kNaN, 5e-324};
    static const std::vector<std::int64_t> ints = {0, 1, -1, kLeast, kMost};
    const bool special = random() % 4 == 0;
    if (random() % 16 == 0) return Datum::none();
    if (GetParam() == ValueType::floating) {
      return Datum::of(special ? floats[random() % floats.size()]
                               : static_cast<double>(random() % 100) - 50);
    }
    return Datum::of(special ? ints[random() % ints.size()]
                             : static_cast<std::int64_t>(random() % 100) - 50);
  }

  EventStore store_;
  RangeIndex index_;
};

TEST_P(RangeIndexTest, FindsWhatTheComparisonAccepts) {
  std::mt19937 random(1);
  for (const std::size_t size : {0U, 1U, 511U, 513U, 2000U, 6000U, 32'767U}) {
    while (store_.end() < size) add(random_value(random));
    for (const Op op : {Op::less, Op::less_equal, Op::greater, Op::greater_equal}) {
      for (int i = 0; i < 12; ++i) {
        const Datum operand = random_value(random);
        if (operand.exists()) expect_agreement(op, operand);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, RangeIndexTest,
                         ::testing::Values(ValueType::integer, ValueType::floating));

class IntRangeIndexTest : public RangeIndexTest {};
INSTANTIATE_TEST_SUITE_P(Types, IntRangeIndexTest, ::testing::Values(ValueType::integer));

TEST_P(IntRangeIndexTest, BoundsRestrictEachOther) {
  for (std::int64_t v = 0; v < 10; ++v) add(Datum::of(v));
  auto band = bounds(Op::greater, Datum::of(std::int64_t{3}));
  band.restrict_to(Op::less_equal, Datum::of(std::int64_t{5}));
  band.restrict_to(Op::not_equal, Datum::of(std::int64_t{5}));  // no bound
  EXPECT_THAT(find(band), ElementsAre(4, 5));
  band.restrict_to(Op::greater, Datum::of(kMost));
  EXPECT_THAT(find(band), IsEmpty());
}

TEST_P(IntRangeIndexTest, FindsValuesThatWereNotThereWhenTheyWereDivided) {
  constexpr std::int64_t kEach = 10'000;
  for (std::int64_t i = 0; i < kEach; ++i) add(Datum::of(std::int64_t{5}));
  for (std::int64_t i = 0; i < kEach; ++i) add(Datum::of(i % 10));
  for (const Op op : {Op::less, Op::less_equal, Op::greater, Op::greater_equal}) {
    for (const std::int64_t v : {-1, 0, 4, 5, 6, 9, 10}) expect_agreement(op, Datum::of(v));
  }
}

TEST_P(IntRangeIndexTest, FindsNoMoreThanAsked) {
  const auto all = bounds(Op::greater_equal, Datum::of(kLeast));
  for (const std::size_t size : {1U, 100U, 5000U}) {
    while (store_.end() < size) add(Datum::of(static_cast<std::int64_t>(store_.end() % 97)));
    std::vector<Slot> slots = {7, 7};
    EXPECT_FALSE(index_.find(all, size - 1, slots));
    slots = {7, 7};
    EXPECT_TRUE(index_.find(all, size, slots));
    EXPECT_EQ(slots.size(), size + 2);
    EXPECT_EQ(slots[1], 7);
  }
}

TEST_P(IntRangeIndexTest, GoneEventsAreForgotten) {
  const auto all = bounds(Op::greater_equal, Datum::of(kLeast));
  constexpr Timestamp kWindow = 5000;
  std::size_t largest = 0;
  for (Timestamp now = 0; now < 100'000; ++now) {
    add(Datum::of(static_cast<std::int64_t>(now * 7919 % 10'007)), now);
    store_.drop_until(now - kWindow);
    index_.drop_gone();
    largest = std::max(largest, index_.bytes());
    if (now % 64 != 0) continue;
    ASSERT_EQ(find(all).size(), store_.end() - store_.begin());
  }
  // As many again may wait for their run to be merged.
  EXPECT_LT(largest, 16 * 16 * kWindow);
}

}  // namespace
}  // namespace gorgo::history
