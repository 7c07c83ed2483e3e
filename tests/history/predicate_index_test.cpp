#include "history/predicate_index.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <random>
#include <set>

namespace gorgo::history {
namespace {

class PredicateIndexTest : public ::testing::Test {
 protected:
  PredicateIndexTest()
      : store_({.name = "T",
                .attributes = {{"i", ValueType::integer},
                               {"f", ValueType::floating},
                               {"s", ValueType::string},
                               {"b", ValueType::boolean}},
                .origin = TypeOrigin::inferred}) {}

  static Expr own(std::uint32_t index, ValueType type) {
    return {.op = Op::attribute, .type = type, .source = kCandidate, .index = index};
  }
  static Expr constant(Value value) {
    Expr expr{.op = Op::constant, .type = type_of(value)};
    expr.constant = std::move(value);
    return expr;
  }
  static Expr compare(Op op, Expr left, Expr right) {
    Expr expr{.op = op, .type = ValueType::boolean};
    expr.args = {std::move(left), std::move(right)};
    return expr;
  }

  void add(std::vector<Expr> conditions) {
    const plan::ColumnSpec spec{.conditions = std::move(conditions)};
    const auto id = static_cast<ColumnId>(columns_.size());
    columns_.push_back(std::make_unique<Column>(id, spec, store_, pool_));
    index_.add(*columns_.back());
  }

  /// The columns that the index finds for the event, which must be those that accept it.
  std::multiset<ColumnId> matches(const std::vector<Datum>& cells) {
    const Slot slot = store_.append(0, 0, cells);
    std::multiset<ColumnId> found, expected;
    index_.for_each_match(slot, [&](const Column& column) { found.insert(column.id()); });
    for (const auto& column : columns_) {
      if (column->accepts(slot)) expected.insert(column->id());
    }
    EXPECT_EQ(found, expected);
    return found;
  }

  EventStore store_;
  BlockPool pool_;
  std::vector<std::unique_ptr<Column>> columns_;
  PredicateIndex index_{store_};
};

TEST_F(PredicateIndexTest, FindsExactlyTheColumnsThatAccept) {
  const auto i = own(0, ValueType::integer);
  const auto f = own(1, ValueType::floating);
  const auto s = own(2, ValueType::string);
  add({});
  for (const std::int64_t k : {-2, -1, 0, 1, 2}) {
    add({compare(Op::equal, i, constant(k))});
    add({compare(Op::equal, constant(static_cast<double>(k) / 2), i)});
    add({compare(Op::equal, f, constant(k))});
    for (const Op op : {Op::less, Op::less_equal, Op::greater, Op::greater_equal, Op::not_equal}) {
      add({compare(op, i, constant(k))});
      add({compare(op, constant(k), f)});
      add({compare(op, f, constant(0.5)), compare(Op::equal, i, constant(k))});
      add({compare(op, f, constant(-0.5)), compare(Op::less, i, constant(k))});
    }
  }
  for (const char* text : {"", "a", "ab"}) {
    add({compare(Op::equal, s, constant(std::string(text)))});
    add({compare(Op::less, s, constant(std::string(text)))});
    add({compare(Op::contains, s, constant(std::string(text)))});
  }
  add({own(3, ValueType::boolean)});
  add({compare(Op::equal, i, f)});
  add({compare(Op::less, f, constant(std::numeric_limits<double>::quiet_NaN()))});

  std::mt19937_64 random(1);
  const double floats[] = {-1, -0.5, -0.0, 0, 0.5, 1, 2, std::numeric_limits<double>::quiet_NaN()};
  const char* const texts[] = {"", "a", "ab", "b"};
  std::size_t found = 0;
  for (int n = 0; n < 2000; ++n) {
    std::vector<Datum> cells = {Datum::of(static_cast<std::int64_t>(random() % 7) - 3),
                                Datum::of(floats[random() % 8]), Datum::of(texts[random() % 4]),
                                Datum::of(random() % 2 == 0)};
    if (random() % 4 == 0) cells[random() % 4] = Datum::none();
    found += matches(cells).size();
  }
  EXPECT_GT(found, 2000u);
}

}  // namespace
}  // namespace gorgo::history
