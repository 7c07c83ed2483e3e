#include "engine/column/block_condition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "base/arithmetic.hpp"
#include "base/exact_sum.hpp"
#include "floats.hpp"

namespace gorgo::engine {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double random_float(std::mt19937& random) {
  static const std::vector<double> special = {0.0, -0.0, kInfinity, -kInfinity, kNaN, 5e-324};
  if (random() % 4 == 0) return special[random() % special.size()];
  return (static_cast<double>(random() % 41) - 20) / 4;
}

std::uint64_t word(double value) { return std::bit_cast<std::uint64_t>(value); }

/// Whether the first or the second operand of a loop of this shape is a constant.
bool first(std::size_t shape) { return shape == 1 || shape == 3; }
bool second(std::size_t shape) { return shape >= 2; }

class BlockKernelsTest : public ::testing::TestWithParam<const BlockKernels*> {};

TEST_P(BlockKernelsTest, CompareAsTheLanguageDoes) {
  std::mt19937 random(1);
  std::vector<std::uint64_t> a(kBlock), b(kBlock), c(kBlock), d(kBlock);
  for (std::size_t i = 0; i < kBlock; ++i) {
    a[i] = word(random_float(random));
    b[i] = word(random_float(random));
    c[i] = random() % 3 == 0 ? std::uint64_t{1} << 63 : random() % 5 - 2U;
    d[i] = random() % 3 == 0 ? std::uint64_t{1} << 63 : random() % 5 - 2U;
  }
  for (const Op op :
       {Op::equal, Op::not_equal, Op::less, Op::less_equal, Op::greater, Op::greater_equal}) {
    BlockMask floats{}, ints{};
    for (std::size_t shape = 0; shape < 4; ++shape) {
      GetParam()->compare_floats[*comparison_index(op)][shape](floats, a.data(), b.data(), 4);
      GetParam()->compare_ints[*comparison_index(op)][shape](ints, c.data(), d.data(), 4);
      for (std::size_t i = 0; i < kBlock; ++i) {
        const std::size_t x = first(shape) ? 0 : i, y = second(shape) ? 0 : i;
        const auto f = [&](std::uint64_t w) { return Datum::of(std::bit_cast<double>(w)); };
        const auto n = [&](std::uint64_t w) { return Datum::of(std::bit_cast<std::int64_t>(w)); };
        EXPECT_EQ((floats[i / 64] >> i % 64) & 1, arithmetic::compare(op, f(a[x]), f(b[y])));
        EXPECT_EQ((ints[i / 64] >> i % 64) & 1, arithmetic::compare(op, n(c[x]), n(d[y])));
      }
    }
  }
}

TEST_P(BlockKernelsTest, CalculateAsOneByOne) {
  std::mt19937 random(2);
  std::vector<std::uint64_t> a(kBlock), b(kBlock), out(kBlock);
  for (auto& w : a) w = word(random_float(random));
  for (auto& w : b) w = word(random_float(random) * 1.1);
  const std::vector<std::pair<Op, BlockKernels::ByShape<BlockKernels::Calculate>>> operations = {
      {Op::add, GetParam()->add},
      {Op::subtract, GetParam()->subtract},
      {Op::multiply, GetParam()->multiply},
      {Op::divide, GetParam()->divide}};
  for (const auto& [op, loops] : operations) {
    for (std::size_t shape = 0; shape < 4; ++shape) {
      loops[shape](out.data(), a.data(), b.data(), 4);
      for (std::size_t i = 0; i < kBlock; ++i) {
        const auto x = std::bit_cast<double>(a[first(shape) ? 0 : i]);
        const auto y = std::bit_cast<double>(b[second(shape) ? 0 : i]);
        const double expected = arithmetic::calculate(op, x, y);
        const auto got = std::bit_cast<double>(out[i]);
        if (expected != expected) {
          EXPECT_NE(got, got);
        } else {
          EXPECT_EQ(out[i], word(expected));
        }
      }
    }
  }
}

TEST_P(BlockKernelsTest, TakeWhatAMaskSays) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> values(kBlock), out(kBlock);
  for (auto& value : values) value = random();
  const BlockMask mask = {random(), 0, ~std::uint64_t{0}, random() & random() & random()};
  std::uint64_t greatest = 0;
  const std::uint64_t got = GetParam()->take(out.data(), values.data(), mask, 4);
  for (std::size_t i = 0; i < kBlock; ++i) {
    const bool taken = (mask[i / 64] >> i % 64 & 1) != 0;
    EXPECT_EQ(out[i], taken ? values[i] : 0);
    greatest = std::max(greatest, out[i] << 1 >> 1);
  }
  EXPECT_EQ(got, greatest);
}

TEST_P(BlockKernelsTest, ExtractPartsWhoseSumIsExact) {
  std::mt19937_64 random(4);
  std::vector<std::uint64_t> values(kBlock);
  for (auto& value : values) {
    const double unit = std::ldexp(static_cast<double>(random() >> 11), -53);
    value = word(random() % 8 == 0 ? 0 : (random() % 2 == 0 ? unit : -unit));
  }
  ExactSum whole, parts;
  for (const std::uint64_t value : values) whole.add(std::bit_cast<double>(value));
  auto extracted = GetParam()->extract(values.data(), 512, 4);
  EXPECT_NE(extracted.rest, 0);
  parts.add(extracted.sum);
  extracted = GetParam()->extract(values.data(), std::ldexp(512, -44), 4);
  EXPECT_EQ(extracted.rest, 0);
  parts.add(extracted.sum);
  EXPECT_EQ(parts.rounded(), whole.rounded());
  for (const std::uint64_t value : values) EXPECT_EQ(std::bit_cast<double>(value), 0);
}

INSTANTIATE_TEST_SUITE_P(Sets, BlockKernelsTest,
                         ::testing::ValuesIn(block_kernels().begin(), block_kernels().end()),
                         [](const auto& set) { return std::string(set.param->name); });

/// A type (f, g: float, n: int), events of which a condition is tested, and one event of the
/// sequence.
class BlockConditionTest : public ::testing::TestWithParam<TypeOrigin> {
 protected:
  BlockConditionTest() : store_(type()), timeline_(store_) {
    std::mt19937 random(3);
    std::vector<history::Slot> slots;
    for (int i = 0; i < 1000; ++i) slots.push_back(append(random, i));
    const std::vector<Datum> bound = {Datum::of(1.25), Datum::of(-0.5), Datum::of(std::int64_t{1})};
    terminator_ = store_.append(1000, 0, bound);
    timeline_.add(slots);
    timeline_.materialise(std::vector<std::uint32_t>{0, 1, 2});
  }

  static EventType type() {
    return {.name = "T",
            .attributes = {{"f", ValueType::floating},
                           {"g", ValueType::floating},
                           {"n", ValueType::integer}},
            .origin = GetParam()};
  }

  history::Slot append(std::mt19937& random, Timestamp timestamp) {
    std::vector<Datum> cells = {Datum::of(random_float(random)), Datum::of(random_float(random)),
                                Datum::of(static_cast<std::int64_t>(random() % 9) - 4)};
    const bool strict = GetParam() != TypeOrigin::inferred;
    for (auto& cell : cells) {
      if (!strict && random() % 8 == 0) cell = Datum::none();
    }
    return store_.append(timestamp, 0, cells);
  }

  static Expr attribute(std::uint32_t index, std::int32_t source = kCandidate) {
    const auto type = index == 2 ? ValueType::integer : ValueType::floating;
    return {.op = Op::attribute, .type = type, .source = source, .index = index};
  }
  static Expr node(Op op, ValueType type, std::vector<Expr> args) {
    Expr expr{.op = op, .type = type};
    expr.args = std::move(args);
    return expr;
  }
  static Expr number(Op op, std::vector<Expr> args) {
    return node(op, ValueType::floating, std::move(args));
  }
  static Expr truth(Op op, std::vector<Expr> args) {
    return node(op, ValueType::boolean, std::move(args));
  }
  static Expr difference(std::uint32_t index) {
    return number(Op::subtract, {attribute(index), attribute(index, 0)});
  }

  void expect_agreement(const Expr& condition) {
    auto block = BlockCondition::compile(condition);
    ASSERT_TRUE(block);
    const std::vector<history::EventRef> sequence = {{&store_, terminator_}};
    const history::Scope scope{.candidate = {}, .states = sequence, .aggregates = {}};
    BlockCondition::Binding binding;
    block->bind(scope, binding);
    const bool bound = binding.possible;
    int passed = 0;
    for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{64},
                                     std::uint64_t{100}, std::uint64_t{192}, std::uint64_t{256}}) {
      for (std::uint64_t first = 0; first < timeline_.end(); first += size) {
        const std::uint64_t count = std::min(size, timeline_.end() - first);
        BlockMask mask;
        mask.fill(~std::uint64_t{0});
        block->enter(timeline_, first, count);
        if (bound) block->test(binding, mask);
        if (bound) expect_same_by_slots(*block, binding, first, count, mask);
        for (std::uint64_t i = 0; i < count; ++i) {
          const bool got = bound && ((mask[i / 64] >> i % 64) & 1) != 0;
          const history::Scope one{.candidate = {&store_, timeline_.slot(first + i)},
                                   .states = sequence,
                                   .aggregates = {}};
          ASSERT_EQ(got, history::holds(condition, one)) << first + i;
          passed += got ? 1 : 0;
        }
      }
    }
    EXPECT_TRUE(passed > 0 || GetParam() == TypeOrigin::inferred);
  }

  /// Events are the same wherever their attributes come from.
  void expect_same_by_slots(BlockCondition& block, const BlockCondition::Binding& binding,
                            std::uint64_t first, std::uint64_t count, const BlockMask& expected) {
    std::vector<history::Slot> slots;
    for (std::uint64_t i = 0; i < count; ++i) slots.push_back(timeline_.slot(first + i));
    BlockMask mask;
    mask.fill(~std::uint64_t{0});
    block.enter(store_, slots);
    block.test(binding, mask);
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(mask[i / 64] >> i % 64 & 1, expected[i / 64] >> i % 64 & 1) << first + i;
    }
  }

  history::EventStore store_;
  history::Timeline timeline_;
  history::Slot terminator_ = 0;
};

TEST_P(BlockConditionTest, DistancesAreCompared) {
  Expr sum = number(Op::add, {number(Op::multiply, {difference(0), difference(0)}),
                              number(Op::multiply, {difference(1), difference(1)})});
  Expr limit{.op = Op::constant, .type = ValueType::floating};
  limit.constant = 30.0;
  expect_agreement(truth(Op::less, {sum, limit}));
  expect_agreement(truth(Op::greater_equal, {limit, sum}));
}

TEST_P(BlockConditionTest, SumsOfProductsAreCompared) {
  const Expr n = number(Op::to_float, {attribute(2)});
  const Expr half = number(Op::multiply, {attribute(0), attribute(1, 0)});
  const Expr other = number(Op::multiply, {attribute(1, 0), attribute(1)});
  const Expr count = number(Op::multiply, {n, attribute(0, 0)});
  expect_agreement(
      truth(Op::less, {number(Op::add, {number(Op::add, {half, other}), count}), attribute(0, 0)}));
  expect_agreement(
      truth(Op::greater, {number(Op::add, {half, number(Op::add, {other, count})}), attribute(0)}));
  // Neither is a product with a constant.
  const Expr square = number(Op::multiply, {attribute(0), attribute(0)});
  const Expr of_both = number(Op::multiply, {difference(0), difference(1)});
  expect_agreement(truth(Op::less, {number(Op::add, {half, square}), attribute(0, 0)}));
  expect_agreement(truth(Op::less, {number(Op::add, {of_both, of_both}), attribute(0, 0)}));
}

TEST_P(BlockConditionTest, SumsMayHaveMoreTermsThanOneStepTakes) {
  Expr limit{.op = Op::constant, .type = ValueType::floating};
  limit.constant = 30.0;
  for (const int terms : {2, 15, 16, 17, 40}) {
    Expr products = number(Op::multiply, {attribute(0), attribute(1, 0)});
    Expr squares = number(Op::multiply, {difference(1), difference(1)});
    const Expr product = products, square = squares;
    for (int i = 1; i < terms; ++i) {
      products = number(Op::add, {products, product});
      squares = number(Op::add, {squares, square});
    }
    expect_agreement(truth(Op::greater_equal, {products, attribute(1, 0)}));
    expect_agreement(truth(Op::less, {squares, limit}));
  }
}

TEST_P(BlockConditionTest, IntsAreComparedAndCountAsFloats) {
  expect_agreement(truth(Op::less_equal, {attribute(2), attribute(2, 0)}));
  expect_agreement(truth(Op::not_equal, {attribute(2), attribute(2, 0)}));
  expect_agreement(truth(Op::less, {number(Op::to_float, {attribute(2)}), attribute(0)}));
}

TEST_P(BlockConditionTest, QuotientsAndSignsAreThoseOfTheLanguage) {
  expect_agreement(
      truth(Op::less, {number(Op::divide, {attribute(0), attribute(1)}),
                       number(Op::divide, {attribute(1), number(Op::negate, {attribute(0)})})}));
}

TEST_P(BlockConditionTest, LogicKeepsWhatHasNoValueApart) {
  const Expr a = truth(Op::less, {attribute(0), attribute(1)});
  const Expr b = truth(Op::less, {difference(0), attribute(1)});
  expect_agreement(truth(Op::logical_and, {a, b}));
  expect_agreement(truth(Op::logical_or, {a, b}));
  expect_agreement(truth(Op::logical_not, {truth(Op::logical_or, {a, b})}));
}

TEST_P(BlockConditionTest, OtherConditionsAreDeclined) {
  Expr overflow = node(Op::add, ValueType::integer, {attribute(2), attribute(2, 0)});
  EXPECT_FALSE(BlockCondition::compile(truth(Op::less, {overflow, attribute(2, 0)})));
  EXPECT_FALSE(BlockCondition::compile(truth(Op::less, {attribute(2), attribute(0, 0)})));
}

INSTANTIATE_TEST_SUITE_P(Types, BlockConditionTest,
                         ::testing::Values(TypeOrigin::declared, TypeOrigin::inferred),
                         [](const auto& set) {
                           return set.param == TypeOrigin::declared ? "Strict" : "Nullable";
                         });

}  // namespace
}  // namespace gorgo::engine
