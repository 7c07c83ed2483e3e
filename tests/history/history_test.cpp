#include "history/history.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>

#include <gtest/gtest.h>

namespace gorgo::history {
namespace {

constexpr Timestamp kNever = std::numeric_limits<Timestamp>::max();

Expr own(std::uint32_t index, ValueType type) {
  return {.op = Op::attribute, .type = type, .source = kCandidate, .index = index};
}
Expr constant(Value value) {
  Expr expr{.op = Op::constant, .type = type_of(value)};
  expr.constant = std::move(value);
  return expr;
}
Expr greater(Expr left, Expr right) {
  Expr expr{.op = Op::greater, .type = ValueType::boolean};
  expr.args = {std::move(left), std::move(right)};
  return expr;
}

class HistoryTest : public ::testing::Test {
 protected:
  HistoryTest() {
    temp_ = schema_
                .add({.name = "Temp",
                      .attributes = {{"area", ValueType::string}, {"value", ValueType::integer}}})
                .id;
    history_.keep(schema_.at(temp_), 10);
  }

  Slot append(Timestamp timestamp, const char* area, std::int64_t value) {
    const std::vector<Datum> cells = {Datum::of(area), Datum::of(value)};
    const Slot slot = history_.append(temp_, timestamp, ++root_, cells);
    history_.settle();
    return slot;
  }

  /// The timeline of the column, which the history keeps while `column` is held.
  struct Searched {
    std::shared_ptr<Column> column;
    std::shared_ptr<const Timeline> timeline;
    const Timeline* operator->() const { return timeline.get(); }
  };
  Searched searched(const plan::ColumnSpec& spec) {
    auto column = history_.column(spec);
    auto timeline = column->timeline(spec.attributes);
    return {std::move(column), std::move(timeline)};
  }

  plan::ColumnSpec above(std::int64_t value, std::vector<std::uint32_t> attributes) const {
    return {.type = temp_,
            .conditions = {greater(own(1, ValueType::integer), constant(value))},
            .attributes = std::move(attributes),
            .key = "above " + std::to_string(value)};
  }

  Schema schema_;
  TypeId temp_ = kNoType;
  History history_;
  std::uint64_t root_ = 0;
};

/// How many events an index by area finds.
class RestingIndexTest : public HistoryTest {
 protected:
  std::size_t found(const HashIndex& index, const char* area) const {
    HashIndex::Key key;
    if (!key.set(index.layout(), std::vector<Datum>{Datum::of(area)})) return 0;
    return index.find(key).window(history_.store(temp_).horizon(), kNever).size();
  }
  std::shared_ptr<const HashIndex> by_area(Column& column) {
    return column.index({own(0, ValueType::string)}, std::nullopt, std::nullopt);
  }
  static std::size_t within(const RangeIndex& index, std::int64_t least) {
    RangeIndex::Bounds bounds;
    bounds.restrict_to(Op::greater_equal, Datum::of(least));
    std::vector<Slot> slots;
    EXPECT_TRUE(index.find(bounds, 1000, slots));
    return slots.size();
  }
};

TEST_F(RestingIndexTest, AnIndexThatNobodyHoldsTakesNothingInAndCatchesUp) {
  const auto column = history_.column(above(0, {}));
  const HashIndex* before = nullptr;
  {
    const auto index = by_area(*column);
    const auto range = column->range_index(1);
    for (int i = 1; i <= 6; ++i) append(i, "a", i);
    EXPECT_EQ(found(*index, "a"), 6u);
    EXPECT_EQ(within(*range, 5), 2u);
    before = index.get();
  }
  history_.trim();
  const std::size_t bytes = column->bytes();
  append(7, "a", 7);
  append(8, "b", 8);
  append(9, "b", -8);
  EXPECT_EQ(column->bytes(), bytes);
  const auto index = by_area(*column);
  const auto range = column->range_index(1);
  EXPECT_EQ(index.get(), before);
  EXPECT_EQ(found(*index, "a"), 7u);
  EXPECT_EQ(found(*index, "b"), 1u);
  EXPECT_EQ(within(*range, 5), 4u);
  append(10, "b", 9);
  EXPECT_EQ(found(*index, "b"), 2u);
  EXPECT_EQ(within(*range, 5), 5u);
}

TEST_F(RestingIndexTest, IndexesThatAreAskedForTogetherAreFilledWhenAllIsAsked) {
  for (int i = 1; i <= 6; ++i) append(i, i < 4 ? "a" : "b", i);
  std::shared_ptr<Column> column;
  std::shared_ptr<const HashIndex> index, summed;
  std::shared_ptr<const RangeIndex> range;
  history_.together([&] {
    column = history_.column(above(0, {}));
    index = by_area(*column);
    range = column->range_index(1);
    summed = history_.column(above(0, {}))->index({own(0, ValueType::string)}, 1, std::nullopt);
    EXPECT_EQ(index->events(), 0u);
    EXPECT_EQ(within(*range, 0), 0u);
  });
  EXPECT_EQ(index, summed);
  EXPECT_TRUE(index->find_sum(1));
  EXPECT_EQ(found(*index, "a"), 3u);
  EXPECT_EQ(within(*range, 5), 2u);
  append(7, "a", 7);
  EXPECT_EQ(found(*index, "a"), 4u);
  EXPECT_EQ(found(*by_area(*column), "b"), 3u);
}

TEST_F(RestingIndexTest, WhatFailsHalfWayLeavesFilledIndexes) {
  for (int i = 1; i <= 3; ++i) append(i, "a", i);
  std::shared_ptr<Column> column;
  std::shared_ptr<const HashIndex> index;
  const auto prepare = [&] {
    column = history_.column(above(0, {}));
    index = by_area(*column);
    throw std::bad_alloc();
  };
  EXPECT_THROW(history_.together(prepare), std::bad_alloc);
  EXPECT_EQ(found(*index, "a"), 3u);
}

TEST_F(RestingIndexTest, WhatIsAskedForAheadIsFilledPieceByPieceBesideNewEvents) {
  constexpr int kBefore = 3000, kMeanwhile = 100;
  const auto past = std::chrono::steady_clock::now();
  for (int i = 1; i <= kBefore; ++i) append(1, i % 3 == 0 ? "a" : "b", i);
  std::shared_ptr<Column> column;
  std::shared_ptr<const HashIndex> index;
  std::shared_ptr<const RangeIndex> range;
  std::shared_ptr<const Timeline> timeline;
  history_.ahead([&] {
    column = history_.column(above(0, {1}));
    index = by_area(*column);
    range = column->range_index(1);
    timeline = column->timeline(std::vector<std::uint32_t>{1});
  });
  int pieces = 0;
  for (; !history_.fill(past); ++pieces) {
    const auto events = static_cast<std::size_t>(kBefore + pieces * kMeanwhile);
    EXPECT_LT(found(*index, "a") + found(*index, "b"), events - pieces * kMeanwhile / 4);
    for (int i = 0; i < kMeanwhile; ++i) append(i % 2 == 0 ? 2 : 1, "a", i % 4 == 0 ? -1 : 5000);
  }
  EXPECT_GT(pieces, 1);
  const auto came = static_cast<std::size_t>(pieces * kMeanwhile * 3 / 4);
  EXPECT_EQ(found(*index, "a"), 1000 + came);
  EXPECT_EQ(found(*index, "b"), 2000u);
  EXPECT_EQ(within(*range, 2990), 11 + came);
  EXPECT_EQ(timeline->end() - timeline->begin(), 3000 + came);
  append(3, "a", 7000);
  EXPECT_EQ(found(*index, "a"), 1001 + came);
  EXPECT_EQ(within(*range, 6000), 1u);
  EXPECT_EQ(timeline->end() - timeline->begin(), 3001 + came);
}

TEST_F(RestingIndexTest, AnIndexThatIsFilledAheadIsWholeForWhoeverAsksForItNow) {
  for (int i = 1; i <= 10; ++i) append(1, "a", i);
  std::shared_ptr<Column> column;
  std::shared_ptr<const HashIndex> coming;
  history_.ahead([&] {
    column = history_.column(above(0, {}));
    coming = by_area(*column);
  });
  EXPECT_EQ(found(*coming, "a"), 0u);
  append(2, "a", 11);
  EXPECT_EQ(found(*by_area(*column), "a"), 11u);
  append(3, "a", 12);
  EXPECT_EQ(found(*coming, "a"), 12u);
  while (!history_.fill(std::chrono::steady_clock::time_point::max())) continue;
  EXPECT_EQ(found(*coming, "a"), 12u);
}

TEST_F(RestingIndexTest, AnIndexThatIsSearchedStaysWholeWhenMoreIsAskedOfItAhead) {
  for (int i = 1; i <= 10; ++i) append(1, "a", i);
  const auto column = history_.column(above(0, {}));
  const auto index = by_area(*column);
  std::shared_ptr<const HashIndex> summed;
  history_.ahead([&] {
    summed = history_.column(above(0, {}))->index({own(0, ValueType::string)}, 1, std::nullopt);
  });
  EXPECT_EQ(index, summed);
  EXPECT_EQ(found(*index, "a"), 10u);
  append(2, "a", 11);
  EXPECT_EQ(found(*index, "a"), 11u);
}

TEST_F(HistoryTest, ATypeThatIsExpectedHasColumnsAndKeepsNothing) {
  const EventType& coming = schema_.add({.name = "Coming", .attributes = {}});
  history_.expect(coming);
  auto column = history_.column({.type = coming.id, .key = "all"});
  EXPECT_FALSE(history_.keeps(coming.id));
  EXPECT_EQ(history_.reach(coming.id), 0);
  history_.keep(coming, 5);
  EXPECT_TRUE(history_.keeps(coming.id));
  EXPECT_EQ(history_.column({.type = coming.id, .key = "all"}), column);

  const EventType& given_up = schema_.add({.name = "GivenUp", .attributes = {}});
  history_.expect(given_up);
  column = history_.column({.type = given_up.id, .key = "all"});
  column = nullptr;
  history_.give_up(given_up.id);
  EXPECT_FALSE(history_.keeps(given_up.id));
  EXPECT_EQ(history_.bytes(given_up.id), 0u);
}

TEST_F(RestingIndexTest, WhatIsGoneMeanwhileIsNotTakenIn) {
  const auto column = history_.column(above(0, {}));
  auto index = by_area(*column);
  for (int i = 1; i <= 30; ++i) append(i, "a", i);
  index = nullptr;
  for (int i = 31; i <= 35; ++i) append(i, i < 33 ? "b" : "a", i);
  history_.evict(42);  // reach 10
  index = by_area(*column);
  EXPECT_EQ(found(*index, "a"), 3u);
  EXPECT_EQ(found(*index, "b"), 0u);
}

TEST_F(RestingIndexTest, AnIndexIsForgottenWhenItHasMissedHalf) {
  const auto column = history_.column(above(0, {}));
  const std::size_t bytes = column->bytes();
  static_cast<void>(by_area(*column));
  for (int i = 1; i <= 10; ++i) append(i, "a", i);
  EXPECT_LE(column->bytes(), bytes + 2 * sizeof(Slot));
  EXPECT_EQ(found(*by_area(*column), "a"), 10u);
}

TEST_F(HistoryTest, ColumnTakesInWhatSatisfiesItsConditionsBeforeAndAfterItIsMade) {
  append(1, "a", 50);
  append(2, "b", 10);
  const auto column = searched(above(45, {0}));
  append(3, "c", 60);
  append(4, "d", 20);
  ASSERT_EQ(column->end() - column->begin(), 2u);
  EXPECT_EQ(column->attribute(0)[column->begin()].text(), "a");
  EXPECT_EQ(column->attribute(0)[column->begin() + 1].text(), "c");
  EXPECT_EQ(column->slot(column->begin() + 1), 2u);
}

TEST_F(HistoryTest, PlansShareAColumnAndItsAttributesAdd) {
  append(1, "a", 50);
  const auto first = searched(above(45, {0}));
  const auto second = searched(above(45, {1}));
  EXPECT_EQ(first.timeline, second.timeline);
  append(2, "b", 70);
  EXPECT_EQ(second->attribute(1)[second->begin()].integer, 50);
  EXPECT_EQ(second->attribute(1)[second->begin() + 1].integer, 70);
  EXPECT_EQ(second->attribute(0)[second->begin() + 1].text(), "b");
}

TEST_F(HistoryTest, WindowsAreOpenAtBothEnds) {
  for (const Timestamp t : {1, 2, 2, 3, 4}) append(t, "a", 50);
  const auto column = searched(above(0, {}));
  const auto count = [&](Timestamp after, Timestamp before) {
    const Range range = column->window(after, before);
    return range.empty() ? 0 : range.last - range.first;
  };
  EXPECT_EQ(count(1, 4), 3u);
  EXPECT_EQ(count(2, 3), 0u);
  EXPECT_EQ(count(4, 1), 0u);
  EXPECT_EQ(count(-1, kNever), 5u);
}

TEST_F(HistoryTest, WindowsAreFoundHoweverUnevenTheTimesAre) {
  std::vector<Timestamp> times;
  for (Timestamp i = 0; i < 3000; ++i) times.push_back(10 * i);
  for (Timestamp i = 0; i < 3000; ++i) times.push_back(1'000'000 + i / 100);
  for (Timestamp t = 2'000'000; t < kNever / 2; t += t / 50) times.push_back(t);
  for (const Timestamp t : times) append(t, "a", 50);
  const auto column = searched(above(0, {}));
  const auto expected = [&](Timestamp after, Timestamp before) {
    const auto from = std::upper_bound(times.begin(), times.end(), after);
    const auto to = std::max(from, std::lower_bound(times.begin(), times.end(), before));
    return std::pair(static_cast<std::uint64_t>(from - times.begin()),
                     static_cast<std::uint64_t>(to - times.begin()));
  };
  std::vector<Timestamp> bounds = {std::numeric_limits<Timestamp>::min(), -1};
  for (std::size_t i = 0; i < times.size(); i += 37) {
    bounds.insert(bounds.end(), {times[i] - 1, times[i], times[i] + 1});
  }
  bounds.push_back(kNever);
  Range near{0, 0};
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    for (const std::size_t step : {0, 1, 5, 200}) {
      const Timestamp after = bounds[i], before = bounds[std::min(i + step, bounds.size() - 1)];
      const Range range = column->window(after, before);
      EXPECT_EQ(std::pair(range.first, range.last), expected(after, before));
      near = column->window(after, before, near);
      EXPECT_EQ(std::pair(near.first, near.last), expected(after, before));
    }
  }
}

TEST_F(HistoryTest, EvictionKeepsExactlyWhatIsInReach) {
  for (Timestamp t = 0; t < 1000; ++t) append(t, t % 2 == 0 ? "even" : "odd", t);
  const auto column = searched(above(-1, {0, 1}));
  history_.evict(500);
  EXPECT_EQ(history_.store(temp_).begin(), 491u);  // 490 is exactly 10 old
  EXPECT_EQ(column->begin(), 491u);
  EXPECT_EQ(column->attribute(1)[491].integer, 491);
  EXPECT_EQ(column->attribute(0)[492].text(), "even");
  EXPECT_EQ(history_.store(temp_).attribute(999, 0).text(), "odd");
}

TEST_F(HistoryTest, MemoryStaysBoundedByReach) {
  const auto column = searched(above(-1, {0, 1}));
  std::size_t bytes_early = 0;
  for (Timestamp t = 0; t < 100'000; ++t) {
    append(t, "somewhere", t);
    history_.evict(t);
    if (t == 20'000) bytes_early = history_.bytes(temp_);
  }
  EXPECT_LE(history_.bytes(temp_), 2 * bytes_early);
  EXPECT_EQ(column->end() - column->begin(), 10u);
}

TEST_F(HistoryTest, ATypeCanBeForgotten) {
  append(1, "a", 50);
  EXPECT_TRUE(history_.keeps(temp_));
  history_.forget(temp_);
  EXPECT_FALSE(history_.keeps(temp_));
}

}  // namespace
}  // namespace gorgo::history
