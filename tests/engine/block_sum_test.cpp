#include "engine/column/block_sum.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace gorgo::engine {
namespace {

/// Compares the sum of random masks of `values` by blocks with the one that is taken one by one.
void expect_equal_sums(const std::vector<double>& values, std::mt19937_64& random) {
  std::vector<std::uint64_t> words;
  for (const double value : values) words.push_back(std::bit_cast<std::uint64_t>(value));
  BlockSum blocks;
  ExactSum expected;
  std::uint64_t expected_count = 0;
  for (std::size_t first = 0; first < values.size();) {
    const std::size_t count = std::min<std::size_t>(1 + random() % kBlock, values.size() - first);
    BlockMask mask{};
    for (std::size_t i = 0; i < count; ++i) {
      if (random() % 3 == 0) continue;
      mask[i / 64] |= std::uint64_t{1} << i % 64;
      expected.add(values[first + i]);
      ++expected_count;
    }
    blocks.add_floats(words.data() + first, count, mask);
    first += count;
  }
  EXPECT_EQ(blocks.count(), expected_count);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(blocks.of_floats().rounded()),
            std::bit_cast<std::uint64_t>(expected.rounded()));
}

void expect_equal_sums(std::uint64_t seed, const std::function<double(std::mt19937_64&)>& value) {
  std::mt19937_64 random(seed);
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::vector<double> values(2000);
    for (double& v : values) v = value(random);
    expect_equal_sums(values, random);
  }
}

double unit(std::mt19937_64& random) {
  return std::ldexp(static_cast<double>(random() >> 11), -53) - 0.5;
}

TEST(BlockSum, SumsNumbersOfASize) { expect_equal_sums(1, unit); }

TEST(BlockSum, SumsNumbersThatSpanMoreThanItsTurnsTake) {
  expect_equal_sums(2, [](std::mt19937_64& random) {
    return std::ldexp(unit(random), static_cast<int>(random() % 400));
  });
}

TEST(BlockSum, SumsAllBitPatterns) {
  expect_equal_sums(3, [](std::mt19937_64& random) {
    const auto value = std::bit_cast<double>(random());
    return std::isfinite(value) ? value : 1.0;
  });
}

TEST(BlockSum, SumsTheGreatestAndTheLeastNumbers) {
  expect_equal_sums(4, [](std::mt19937_64& random) {
    const double greatest = std::numeric_limits<double>::max();
    return random() % 2 == 0 ? greatest : -greatest;
  });
  expect_equal_sums(5, [](std::mt19937_64& random) {
    return std::bit_cast<double>(random() % 7 + (random() % 2 << 63));
  });
}

TEST(BlockSum, KnowsInfinitiesAndNaN) {
  expect_equal_sums(6, [](std::mt19937_64& random) {
    return random() % 500 == 0 ? std::numeric_limits<double>::infinity() : unit(random);
  });
  const double none = std::numeric_limits<double>::quiet_NaN();
  BlockSum sum;
  const std::vector<std::uint64_t> words(64, std::bit_cast<std::uint64_t>(none));
  sum.add_floats(words.data(), 64, {1});
  EXPECT_TRUE(std::isnan(sum.of_floats().rounded()));
}

TEST(BlockSum, CancelsToZero) {
  BlockSum sum;
  std::vector<std::uint64_t> words;
  for (int i = 0; i < 100; ++i) {
    words.push_back(std::bit_cast<std::uint64_t>(i % 2 == 0 ? 1e300 : -1e300));
  }
  sum.add_floats(words.data(), words.size(), {~std::uint64_t{0}, (std::uint64_t{1} << 36) - 1});
  EXPECT_EQ(sum.count(), 100);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(sum.of_floats().rounded()), 0);
}

TEST(BlockSum, AddsIntsWithoutOverflow) {
  std::mt19937_64 random(8);
  for (const std::uint64_t wide : {0, 40}) {
    BlockSum blocks;
    Int128 expected = 0;
    std::uint64_t expected_count = 0;
    for (int block = 0; block < 100; ++block) {
      const std::size_t count = 1 + random() % kBlock;
      std::vector<std::uint64_t> words(count);
      BlockMask mask{};
      for (std::size_t i = 0; i < count; ++i) {
        const auto value = static_cast<std::int64_t>(random()) >> wide;
        words[i] = static_cast<std::uint64_t>(value);
        if (random() % 3 == 0) continue;
        mask[i / 64] |= std::uint64_t{1} << i % 64;
        expected += value;
        ++expected_count;
      }
      blocks.add_ints(words.data(), count, mask);
    }
    EXPECT_EQ(blocks.count(), expected_count);
    EXPECT_TRUE(blocks.of_ints() == expected);
  }
  BlockSum extremes;
  const std::vector<std::uint64_t> least(kBlock, std::uint64_t{1} << 63);
  BlockMask all;
  all.fill(~std::uint64_t{0});
  extremes.add_ints(least.data(), kBlock, all);
  EXPECT_TRUE(extremes.of_ints() == -(static_cast<Int128>(1) << 71));
}

}  // namespace
}  // namespace gorgo::engine
