#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "history/hash_index.hpp"
#include "history/timeline.hpp"

/// Batches of events that are late in any order, against a plain list.

namespace gorgo::history {
namespace {

constexpr Timestamp kForever = std::numeric_limits<Timestamp>::max();
constexpr std::uint32_t kOfKey = 0, kOfSum = 1, kOfValue = 2;

class LateEventsTest : public ::testing::Test {
 protected:
  struct Row {
    Timestamp timestamp;
    std::int64_t key, summed;
    double value;
  };

  LateEventsTest()
      : store_({.name = "T",
                .attributes = {{"key", ValueType::integer},
                               {"summed", ValueType::integer},
                               {"value", ValueType::floating},
                               {"text", ValueType::string}}}),
        index_({{.op = Op::attribute,
                 .type = ValueType::integer,
                 .source = kCandidate,
                 .index = kOfKey}},
               store_, pool_, true),
        timeline_(store_) {
    index_.add_sum(kOfSum);
    index_.add_values(kOfValue);
    const std::vector<std::uint32_t> attributes = {kOfKey, kOfValue, 3};
    timeline_.materialise(attributes);
  }

  /// Stores so many events, up to `spread` before `now`, and has both take them in.
  void take_batch(std::size_t count, Timestamp now, Timestamp spread, std::uint64_t keys) {
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < count; ++i) {
      const Row row{now - static_cast<Timestamp>(random_() % static_cast<std::uint64_t>(spread)),
                    static_cast<std::int64_t>(random_() % keys),
                    static_cast<std::int64_t>(random_() % 1000) - 500,
                    static_cast<double>(random_() % 1000) / 8};
      const std::string text = text_of(rows_.size());
      const std::vector<Datum> cells = {Datum::of(row.key), Datum::of(row.summed),
                                        Datum::of(row.value), Datum::of(std::string_view(text))};
      slots.push_back(store_.append(row.timestamp, 0, cells));
      rows_.push_back(row);
    }
    index_.add(slots);
    timeline_.add(slots);
  }

  void drop(Timestamp until) {
    index_.drop_gone(4 * store_.drop_until(until));
    timeline_.drop_until(until);
    dropped_ = until;
  }

  static std::string text_of(Slot slot) { return "text " + std::to_string(slot); }

  /// The events that are there, or those with the key, by time and then as they came.
  std::vector<Slot> expected(const std::int64_t* key) const {
    std::vector<Slot> slots;
    for (Slot slot = 0; slot < rows_.size(); ++slot) {
      const Row& row = rows_[slot];
      if (row.timestamp > dropped_ && (key == nullptr || row.key == *key)) slots.push_back(slot);
    }
    std::ranges::stable_sort(slots, {}, [&](Slot slot) { return rows_[slot].timestamp; });
    return slots;
  }

  void verify_key(std::int64_t key) {
    const std::vector<Slot> wanted = expected(&key);
    SearchKey searched;
    ASSERT_TRUE(searched.set(index_.layout(), std::vector{Datum::of(key)}));
    const Posting posting = index_.find(searched);
    const Range range = posting.window(dropped_, kForever);
    ASSERT_EQ(range.size(), wanted.size());
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < range.size(); ++i) {
      const Row& row = rows_[wanted[i]];
      const std::uint64_t at = range.first + i;
      sum += static_cast<std::uint64_t>(row.summed);
      ASSERT_EQ(posting.slot(at), wanted[i]);
      ASSERT_EQ(posting.timestamp(at), row.timestamp);
      ASSERT_EQ(index_.value(posting, 0, at).floating, row.value);
      ASSERT_EQ(posting.sum(0, {range.first, at + 1}), sum);
    }
    verify_summaries(posting);
  }

  void verify_summaries(const Posting& posting) {
    double sum = 0;  // of multiples of an eighth, which is exact
    std::uint64_t at = 0;
    for (const Summary& summary : index_.summaries(posting, 0)) {
      double least = std::numeric_limits<double>::max(), greatest = -least;
      for (std::uint64_t i = 0; i < Posting::kGroup; ++i, ++at) {
        const double value = rows_[posting.slot(at)].value;
        sum += value;
        least = std::min(least, value);
        greatest = std::max(greatest, value);
      }
      ASSERT_EQ(summary.least.floating, least);
      ASSERT_EQ(summary.greatest.floating, greatest);
      ASSERT_EQ(summary.sum.rounded(), sum);
      ++summaries_;
    }
  }

  void verify_timeline() {
    const std::vector<Slot> wanted = expected(nullptr);
    ASSERT_EQ(timeline_.end() - timeline_.begin(), wanted.size());
    for (std::uint64_t i = 0; i < wanted.size(); ++i) {
      const std::uint64_t at = timeline_.begin() + i;
      ASSERT_EQ(timeline_.slot(at), wanted[i]);
      ASSERT_EQ(timeline_.timestamp(at), rows_[wanted[i]].timestamp);
      ASSERT_EQ(timeline_.attribute(kOfKey)[at].integer, rows_[wanted[i]].key);
      ASSERT_EQ(timeline_.attribute(kOfValue)[at].floating, rows_[wanted[i]].value);
      ASSERT_EQ(timeline_.attribute(3)[at].text(), text_of(wanted[i]));
    }
  }

  EventStore store_;
  BlockPool pool_;
  HashIndex index_;
  Timeline timeline_;
  std::mt19937_64 random_{11};
  std::vector<Row> rows_;
  Timestamp dropped_ = std::numeric_limits<Timestamp>::min();
  std::size_t summaries_ = 0;
};

TEST_F(LateEventsTest, StandAtTheirTimesHoweverManyComeTogether) {
  Timestamp now = 1'000;
  for (int batch = 0; batch < 300; ++batch) {
    // Few keys have long postings; from many, the table grows and is divided in the midst of a
    // batch.
    const std::uint64_t keys = batch < 150 ? 3 : 400;
    const std::size_t count = batch % 10 == 0 ? 400 : random_() % 60;
    const Timestamp spread = batch % 3 == 0 ? 1 : 1 + static_cast<Timestamp>(random_() % 300);
    now += 20;
    take_batch(count, now, spread, keys);
    if (batch % 7 == 0) drop(now - 600);
    if (batch % 10 != 0 && batch % 4 != 0) continue;
    verify_timeline();
    for (int i = 0; i < 5; ++i) verify_key(static_cast<std::int64_t>(random_() % keys));
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_TRUE(index_.is_divided());
  EXPECT_GT(summaries_, 300u);
}

}  // namespace
}  // namespace gorgo::history
