#include "engine/column/implied_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "floats.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {
namespace {

Expr number(Op op, std::vector<Expr> args) {
  Expr expr{.op = op, .type = ValueType::floating};
  expr.args = std::move(args);
  return expr;
}

Expr constant(double value) {
  Expr expr{.op = Op::constant, .type = ValueType::floating};
  expr.constant = value;
  return expr;
}

Expr attribute(std::uint32_t index, std::int32_t source = kCandidate) {
  return {.op = Op::attribute, .type = ValueType::floating, .source = source, .index = index};
}

Expr compare(Op op, Expr left, Expr right) {
  Expr expr{.op = op, .type = ValueType::boolean};
  expr.args = {std::move(left), std::move(right)};
  return expr;
}

/// Values at which rounding, overflow and signs show.
double random_operand(std::mt19937& random) {
  static const std::vector<double> special = {
      0.0,    -0.0,  kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(),
      5e-324, 1e308, -1e308,    1e-160,     1 + std::numeric_limits<double>::epsilon()};
  if (random() % 6 == 0) return special[random() % special.size()];
  return (static_cast<double>(random() % 2001) - 1000) / 7;
}

/// Two attributes of the candidate and two of an event of the sequence, in a random expression.
Expr random_expression(std::mt19937& random, int depth) {
  if (depth == 0 || random() % 5 == 0) {
    switch (random() % 4) {
      case 0:
        return constant(random_operand(random));
      case 1:
        return attribute(random() % 2, 0);
      default:
        return attribute(random() % 2);
    }
  }
  Expr a = random_expression(random, depth - 1);
  switch (random() % 7) {
    case 0:
      return number(Op::negate, {std::move(a)});
    case 1:
    case 2: {
      Expr same = a;
      return number(Op::multiply, {std::move(a), std::move(same)});
    }
    case 3:
      return number(Op::multiply, {std::move(a), random_expression(random, depth - 1)});
    case 4:
      return number(Op::divide, {std::move(a), random_expression(random, depth - 1)});
    case 5:
      return number(Op::subtract, {std::move(a), random_expression(random, depth - 1)});
    default:
      return number(Op::add, {std::move(a), random_expression(random, depth - 1)});
  }
}

class ImpliedBoundsTest : public ::testing::Test {
 protected:
  ImpliedBoundsTest()
      : store_(
            {.name = "T", .attributes = {{"x", ValueType::floating}, {"y", ValueType::floating}}}),
        xs_(0, store_),
        ys_(1, store_) {}

  history::EventRef add(double x, double y) {
    const std::vector<Datum> cells = {Datum::of(x), Datum::of(y)};
    const history::Slot slot = store_.append(static_cast<Timestamp>(store_.end()), 0, cells);
    xs_.add({&slot, 1});
    ys_.add({&slot, 1});
    return {&store_, slot};
  }

  /// The events within the bounds that the condition implies.
  std::vector<history::Slot> within(ImpliedBounds& implied,
                                    std::span<const history::EventRef> sequence) const {
    history::RangeIndex::Bounds bounds;
    implied.restrict(bounds, {.candidate = {}, .states = sequence, .aggregates = {}});
    std::vector<history::Slot> slots;
    EXPECT_TRUE((implied.attribute() == 0 ? xs_ : ys_).find(bounds, ~std::size_t{0}, slots));
    return slots;
  }

  history::EventStore store_;
  history::RangeIndex xs_, ys_;
};

Expr squared_distance() {
  Expr sum;
  for (const std::uint32_t i : {0, 1}) {
    const Expr difference = number(Op::subtract, {attribute(i), attribute(i, 0)});
    Expr square = number(Op::multiply, {difference, difference});
    sum = i == 0 ? square : number(Op::add, {sum, square});
  }
  return sum;
}

TEST_F(ImpliedBoundsTest, ADistanceLeavesAStrip) {
  const std::vector<history::EventRef> sequence = {add(10, 0)};
  add(8.5, 100);
  add(11.9, -100);
  const auto outside = add(12.5, 0);
  const Expr near = compare(Op::less, squared_distance(), constant(4));
  auto implied = ImpliedBounds::of(near);
  ASSERT_TRUE(implied);
  EXPECT_EQ(implied->attribute(), 0u);
  EXPECT_EQ(within(*implied, sequence), (std::vector<history::Slot>{0, 1, 2}));
  EXPECT_EQ(outside.slot, 3u);
}

TEST_F(ImpliedBoundsTest, WhatBoundsNothingOnBothSidesIsDeclined) {
  EXPECT_FALSE(ImpliedBounds::of(compare(Op::greater, squared_distance(), constant(4))));
  EXPECT_FALSE(ImpliedBounds::of(compare(Op::not_equal, attribute(0), constant(4))));
  const Expr product = number(Op::multiply, {attribute(0), attribute(1)});
  EXPECT_FALSE(ImpliedBounds::of(compare(Op::less, product, constant(4))));
}

TEST_F(ImpliedBoundsTest, NoEventThatPassesLiesOutside) {
  std::mt19937 random(11);
  std::vector<history::EventRef> events;
  for (int i = 0; i < 60; ++i)
    events.push_back(add(random_operand(random), random_operand(random)));
  const std::vector<Op> operators = {Op::equal, Op::less, Op::less_equal, Op::greater,
                                     Op::greater_equal};
  int bounded = 0, left_out = 0, passed = 0;
  for (int i = 0; i < 30'000; ++i) {
    const Expr condition = compare(operators[random() % operators.size()],
                                   random_expression(random, 4), random_expression(random, 1));
    auto implied = ImpliedBounds::of(condition);
    if (!implied) continue;
    ++bounded;
    const std::vector<history::EventRef> sequence = {events[random() % events.size()]};
    const auto slots = within(*implied, sequence);
    left_out += slots.size() < events.size() ? 1 : 0;
    for (const history::EventRef event : events) {
      const history::Scope scope{.candidate = event, .states = sequence, .aggregates = {}};
      if (!history::holds(condition, scope)) continue;
      ++passed;
      ASSERT_TRUE(std::ranges::find(slots, event.slot) != slots.end())
          << "condition " << i << " " << plan::fingerprint(condition) << ", event " << event.slot;
    }
  }
  EXPECT_GT(bounded, 1000);
  EXPECT_GT(left_out, 1000);
  EXPECT_GT(passed, 1000);
}

}  // namespace
}  // namespace gorgo::engine
