#include "history/hash_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>

namespace gorgo::history {
namespace {

constexpr Timestamp kEndOfTime = std::numeric_limits<Timestamp>::max();

class HashIndexTest : public ::testing::Test {
 protected:
  HashIndexTest()
      : store_({.name = "T",
                .attributes = {{"k", ValueType::integer},
                               {"s", ValueType::string},
                               {"v", ValueType::integer}}}) {}

  static Expr own(std::uint32_t index, ValueType type) {
    return {.op = Op::attribute, .type = type, .source = kCandidate, .index = index};
  }

  Slot append(Timestamp timestamp, std::int64_t k, const std::string& s, std::int64_t v) {
    const std::vector<Datum> cells = {Datum::of(k), Datum::of(std::string_view(s)), Datum::of(v)};
    return store_.append(timestamp, 0, cells);
  }

  void add(HashIndex& index, Slot slot) { index.add({&slot, 1}); }

  std::vector<Slot> found(const HashIndex& index, const std::vector<Datum>& operands,
                          Timestamp after = -1, Timestamp before = kEndOfTime) {
    HashIndex::Key key;
    if (!key.set(index.layout(), operands)) return {};
    const Posting posting = index.find(key);
    const Range range = posting.window(after, before);
    std::vector<Slot> slots;
    for (std::uint64_t i = range.first; i < range.last; ++i) slots.push_back(posting.slot(i));
    return slots;
  }

  EventStore store_;
  BlockPool pool_;
};

TEST_F(HashIndexTest, KeysAreEqualWhereTheLanguageSaysSo) {
  HashIndex index({own(0, ValueType::integer)}, store_, pool_);
  add(index, append(1, 3, "", 0));
  EXPECT_EQ(found(index, {Datum::of(3.0)}).size(), 1u);
  EXPECT_TRUE(found(index, {Datum::of(3.5)}).empty());
  EXPECT_TRUE(found(index, {Datum::of(std::numeric_limits<double>::quiet_NaN())}).empty());
  EXPECT_TRUE(found(index, {Datum::none()}).empty());
  add(index, append(2, 9007199254740993, "", 0));
  EXPECT_TRUE(found(index, {Datum::of(9007199254740992.0)}).empty());
}

TEST_F(HashIndexTest, ALateEventStandsAtItsTime) {
  HashIndex index({own(0, ValueType::integer)}, store_, pool_);
  index.add_sum(2);
  for (const Timestamp t : {10, 20, 15, 5, 20}) add(index, append(t, 1, "", t));
  EXPECT_EQ(found(index, {Datum::of(std::int64_t{1})}), (std::vector<Slot>{3, 0, 2, 1, 4}));
  EXPECT_EQ(found(index, {Datum::of(std::int64_t{1})}, 5, 20), (std::vector<Slot>{0, 2}));
}

TEST_F(HashIndexTest, WithoutSubjectsAllEventsHaveOneKey) {
  HashIndex index({}, store_, pool_);
  index.add_sum(2);
  index.add({});
  EXPECT_TRUE(found(index, {}).empty());
  std::vector<Slot> slots;
  for (const Timestamp t : {10, 20, 15, 20, 5}) slots.push_back(append(t, t % 3, "", t));
  index.add(slots);
  EXPECT_EQ(found(index, {}), (std::vector<Slot>{4, 0, 2, 1, 3}));
  HashIndex::Key key;
  ASSERT_TRUE(key.set(index.layout(), {}));
  EXPECT_EQ(index.find(key).sum(0, {1, 4}), 45u);
  store_.drop_until(20);
  index.add({});
  const Slot later = append(30, 1, "", 7);
  index.add({&later, 1});
  EXPECT_EQ(found(index, {}, 20), (std::vector<Slot>{later}));
}

/// Random events under few and many keys, of one attribute and of two, with late ones among them,
/// against a plain search.
TEST_F(HashIndexTest, FindsWhatAPlainSearchFindsWhileOldEventsGo) {
  HashIndex numbers({own(0, ValueType::integer)}, store_, pool_);
  HashIndex pairs({own(0, ValueType::integer), own(1, ValueType::string)}, store_, pool_);
  numbers.add_sum(2);
  struct Row {
    Timestamp timestamp;
    std::int64_t k, v;
    std::string s;
  };
  std::vector<Row> rows;
  std::mt19937_64 random(1);
  constexpr Timestamp kWindow = 400;
  for (Timestamp t = 0; t < 6000; ++t) {
    const auto keys = t < 3000 ? 7u : 900u;  // few long postings, then many short ones
    const Row row{std::max<Timestamp>(0, t - (random() % 4 == 0 ? 9 : 0)),
                  static_cast<std::int64_t>(random() % keys),
                  static_cast<std::int64_t>(random() % 100) - 50,
                  std::string(1 + random() % 2, 'x')};
    rows.push_back(row);
    const Slot slot = append(row.timestamp, row.k, row.s, row.v);
    add(numbers, slot);
    add(pairs, slot);
    if (t % 10 == 0) {
      const std::size_t dropped = store_.drop_until(t - kWindow - 20);
      numbers.drop_gone(4 * dropped);
      pairs.drop_gone(4 * dropped);
    }
    const Row& probe = rows[rows.size() - 1 - random() % std::min<std::size_t>(rows.size(), 50)];
    std::vector<Slot> expected, expected_pairs;
    std::int64_t sum = 0;
    for (Slot i = store_.begin(); i < rows.size(); ++i) {
      if (rows[i].timestamp <= t - kWindow || rows[i].k != probe.k) continue;
      expected.push_back(i);
      sum += rows[i].v;
      if (rows[i].s == probe.s) expected_pairs.push_back(i);
    }
    const auto by_time = [&](Slot a, Slot b) { return rows[a].timestamp < rows[b].timestamp; };
    std::stable_sort(expected.begin(), expected.end(), by_time);
    std::stable_sort(expected_pairs.begin(), expected_pairs.end(), by_time);
    ASSERT_EQ(found(numbers, {Datum::of(probe.k)}, t - kWindow), expected) << t;
    ASSERT_EQ(found(pairs, {Datum::of(probe.k), Datum::of(std::string_view(probe.s))}, t - kWindow),
              expected_pairs)
        << t;
    HashIndex::Key key;
    ASSERT_TRUE(key.set(numbers.layout(), std::vector{Datum::of(probe.k)}));
    const Posting posting = numbers.find(key);
    const Range range = posting.window(t - kWindow, kEndOfTime);
    ASSERT_TRUE(numbers.is_exact(0, range.size()));
    ASSERT_EQ(static_cast<std::int64_t>(posting.sum(0, range)), sum);
  }
}

TEST_F(HashIndexTest, SumsThatMayHaveOverflowedAreNotExact) {
  HashIndex index({own(0, ValueType::integer)}, store_, pool_);
  index.add_sum(2);
  add(index, append(1, 1, "", std::int64_t{1} << 61));
  EXPECT_TRUE(index.is_exact(0, 3));
  EXPECT_FALSE(index.is_exact(0, 4));
  add(index, append(2, 1, "", std::numeric_limits<std::int64_t>::min()));
  EXPECT_FALSE(index.is_exact(0, 1));
}

TEST_F(HashIndexTest, KeysThatAreGoneGiveTheirMemoryBack) {
  HashIndex index({own(0, ValueType::integer)}, store_, pool_);
  std::size_t full = 0;
  for (Timestamp t = 0; t < 100'000; ++t) {
    add(index, append(t, t, "", 0));
    index.drop_gone(4 * store_.drop_until(t - 1000));
    if (t == 10'000) full = index.bytes();
  }
  EXPECT_LE(index.bytes(), 2 * full);
  index.drop_gone(store_.drop_until(kEndOfTime) * 100);
  EXPECT_LT(index.bytes(), full / 100);
}

}  // namespace
}  // namespace gorgo::history
