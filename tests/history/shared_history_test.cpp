// A history that several threads keep up to date, against one that a single thread does.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include "base/workers.hpp"
#include "history/history.hpp"

namespace gorgo::history {
namespace {

constexpr Timestamp kWindow = 20'000;
constexpr std::uint32_t kKey = 0, kText = 1, kValue = 2, kSummed = 3;

/// A history of one type, and one column of it with every way to search it.
class Searched {
 public:
  Searched(const Schema& schema, TypeId type, unsigned threads) : history_(threads), type_(type) {
    history_.keep(schema.at(type), kWindow);
    column_ = history_.column({.type = type, .conditions = {}, .attributes = {}, .key = "all"});
    timeline = column_->timeline(std::vector{kValue});
    numbers = column_->index({own(kKey, ValueType::integer)}, kSummed, std::nullopt);
    pairs = column_->index({own(kKey, ValueType::integer), own(kText, ValueType::string)},
                           std::nullopt, kValue);
    range = column_->range_index(kValue);
  }

  void append(std::span<const NewEvent> events, Workers& workers) {
    history_.append(type_, events);
    history_.settle(type_);
    const auto chores = history_.chores(type_);
    most_chores = std::max(most_chores, chores.size());
    workers.run(chores.size(), [&](std::size_t i) { chores[i](); });
  }
  void evict(Timestamp clock) { history_.evict(clock); }
  const EventStore& store() const { return history_.store(type_); }

  /// The events of a key behind the horizon, and what the index says of them together.
  std::vector<std::string> find(const HashIndex& index, const std::vector<Datum>& operands) const {
    HashIndex::Key key;
    if (!key.set(index.layout(), operands)) return {};
    const Posting posting = index.find(key);
    const Range window = posting.window(store().horizon(), std::numeric_limits<Timestamp>::max());
    std::vector<std::string> found;
    for (std::uint64_t i = window.first; i < window.last; ++i) {
      found.push_back(std::to_string(posting.slot(i)));
      if (index.find_values(kValue)) {
        found.back() += "=" + std::to_string(index.value(posting, 0, i).integer);
      }
    }
    if (index.find_sum(kSummed)) found.push_back(std::to_string(posting.sum(0, window)));
    return found;
  }
  std::vector<Slot> within(std::int64_t least, std::int64_t most) const {
    RangeIndex::Bounds bounds;
    bounds.restrict_to(Op::greater_equal, Datum::of(least));
    bounds.restrict_to(Op::less_equal, Datum::of(most));
    std::vector<Slot> slots;
    EXPECT_TRUE(range->find(bounds, ~std::size_t{0}, slots));
    std::sort(slots.begin(), slots.end());
    return slots;
  }
  std::vector<Slot> in_time() const {
    std::vector<Slot> slots;
    for (std::uint64_t p = timeline->begin(); p < timeline->end(); ++p) {
      slots.push_back(timeline->slot(p));
    }
    return slots;
  }

 private:
  static Expr own(std::uint32_t index, ValueType type) {
    return {.op = Op::attribute, .type = type, .source = kCandidate, .index = index};
  }

  History history_;  // outlives what searches it
  TypeId type_;
  std::shared_ptr<Column> column_;

 public:
  std::shared_ptr<const Timeline> timeline;
  std::shared_ptr<const HashIndex> numbers, pairs;
  std::shared_ptr<const RangeIndex> range;
  std::size_t most_chores = 0;
};

TEST(SharedHistory, FindsWhatAHistoryOfOneThreadFinds) {
  constexpr unsigned kThreads = 4;
  Schema schema;
  const TypeId type = schema
                          .add({.name = "T",
                                .attributes = {{"key", ValueType::integer},
                                               {"text", ValueType::string},
                                               {"value", ValueType::integer},
                                               {"summed", ValueType::integer}},
                                .origin = TypeOrigin::declared})
                          .id;
  Workers workers(kThreads), nobody(1);
  Searched shared(schema, type, kThreads), alone(schema, type, 1);
  std::mt19937_64 random(7);
  const std::vector<std::string> texts = {"a", "bb", "a text that is longer than others"};
  Timestamp now = 0;
  std::uint64_t root = 0;
  for (int batch = 0; batch < 60; ++batch) {
    const std::size_t size = random() % 4 == 0 ? random() % 100 : 300 + random() % 2000;
    const std::uint64_t keys = batch < 10 ? 5 : 700;  // many events of some, then many keys
    std::vector<std::vector<Datum>> cells;
    std::vector<NewEvent> events;
    for (std::size_t i = 0; i < size; ++i) {
      // Values rise, so that what they were at first says little of later ones.
      const auto value = static_cast<std::int64_t>(random() % 1000) + 40 * batch;
      cells.push_back({Datum::of(static_cast<std::int64_t>(random() % keys)),
                       Datum::of(std::string_view(texts[random() % texts.size()])),
                       Datum::of(value), Datum::of(static_cast<std::int64_t>(random() % 100))});
    }
    for (std::size_t i = 0; i < size; ++i) {
      const Timestamp late = random() % 50 == 0 ? 30 : 0;
      events.push_back({std::max<Timestamp>(0, ++now - late), ++root, cells[i].data()});
    }
    shared.append(events, workers);
    alone.append(events, nobody);
    ASSERT_EQ(shared.in_time(), alone.in_time());
    for (int i = 0; i < 40; ++i) {
      const Datum key = Datum::of(static_cast<std::int64_t>(random() % keys));
      const Datum text = Datum::of(std::string_view(texts[random() % texts.size()]));
      ASSERT_EQ(shared.find(*shared.numbers, {key}), alone.find(*alone.numbers, {key}));
      ASSERT_EQ(shared.find(*shared.pairs, {key, text}), alone.find(*alone.pairs, {key, text}));
      const auto least = static_cast<std::int64_t>(random() % 4000);
      ASSERT_EQ(shared.within(least, least + 50), alone.within(least, least + 50));
    }
    shared.evict(now);
    alone.evict(now);
  }
  EXPECT_TRUE(shared.numbers->is_divided());
  EXPECT_TRUE(shared.pairs->is_divided());
  EXPECT_FALSE(alone.numbers->is_divided());
  EXPECT_GT(shared.most_chores, 2 * kThreads);
  EXPECT_EQ(alone.most_chores, 0u);
}

}  // namespace
}  // namespace gorgo::history
