#include "base/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/int128.hpp"

namespace gorgo {
namespace {

constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// However they are added, the sum is the same.
double sum(const std::vector<double>& values) {
  ExactSum total, at_once;
  for (const double value : values) total.add(value);
  at_once.add(values);
  const double rounded = total.rounded();
  EXPECT_EQ(std::bit_cast<std::uint64_t>(rounded), std::bit_cast<std::uint64_t>(at_once.rounded()));
  return rounded;
}

TEST(ExactSum, RoundsOnceWhateverTheOrder) {
  EXPECT_EQ(sum({1e100, 1.0, -1e100}), 1.0);
  EXPECT_EQ(sum({0.1, 0.2, 0.3}), 0.6);  // 0.6000000000000001 when every addition rounds
  EXPECT_EQ(sum({kMax, kMax, -kMax, -kMax, 5e-324}), 5e-324);
  EXPECT_EQ(sum({-1e100, -1.0, 1e100}), -1.0);
}

TEST(ExactSum, TiesGoToEven) {
  const double ulp = std::ldexp(1.0, -52);
  EXPECT_EQ(sum({1.0, ulp / 2}), 1.0);
  EXPECT_EQ(sum({1.0 + ulp, ulp / 2}), 1.0 + 2 * ulp);
  EXPECT_EQ(sum({1.0, ulp / 2, 5e-324}), 1.0 + ulp);
}

TEST(ExactSum, ZerosInfinitiesAndNaN) {
  EXPECT_FALSE(std::signbit(sum({-0.0})));
  EXPECT_FALSE(std::signbit(sum({1.0, -1.0})));
  EXPECT_EQ(sum({kMax, kMax}), kInfinity);
  EXPECT_EQ(sum({-kInfinity, kMax}), -kInfinity);
  EXPECT_TRUE(std::isnan(sum({kInfinity, -kInfinity})));
  EXPECT_TRUE(std::isnan(sum({std::nan(""), 1.0})));
}

TEST(ExactSum, ADifferenceIsWhatWasAddedSince) {
  std::mt19937_64 random(5);
  std::vector<double> values = {kMax, kInfinity, std::nan(""), -kInfinity, 5e-324, -1e-300};
  for (int i = 0; i < 200; ++i) {
    values.push_back(
        std::ldexp(static_cast<double>(random()) - 9e18, static_cast<int>(random() % 1500) - 900));
  }
  std::shuffle(values.begin(), values.end(), random);
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  for (std::size_t cut = 0; cut <= values.size(); cut += 7) {
    ExactSum before, behind;
    for (std::size_t i = 0; i < values.size(); ++i) (i < cut ? before : behind).add(values[i]);
    ExactSum all = before;
    all.add(behind);
    EXPECT_TRUE(same(all.rounded(), sum(values)));
    ExactSum difference, twice = behind;
    difference.add_difference(all, before);
    EXPECT_TRUE(same(difference.rounded(), behind.rounded())) << cut;
    twice.add_difference(all, before);
    behind.add(behind);
    EXPECT_TRUE(same(twice.rounded(), behind.rounded())) << cut;
  }
}

TEST(ExactSum, SubnormalsAreExact) {
  EXPECT_EQ(sum({5e-324, 5e-324, 5e-324}), 1.5e-323);
  const double smallest_normal = std::numeric_limits<double>::min();
  EXPECT_EQ(sum({smallest_normal, -5e-324}), smallest_normal - 5e-324);
}

TEST(ExactSum, SeveralAreAddedHoweverFarApartTheyAre) {
  std::mt19937_64 random(9);
  for (int apart = 0; apart < 140; ++apart) {
    for (const int lowest : {-1074, -1022, -40, 0, 700}) {
      std::vector<double> values = {0.0, -0.0};
      for (int i = 0; i < 1500; ++i) {
        const double largest = 2 - std::ldexp(1.0, -52);
        const int exponent = i % 2 == 0 ? lowest : lowest + apart;
        values.push_back(std::ldexp(random() % 8 == 0 ? -largest : largest, exponent));
      }
      sum(values);
      sum({values.begin(), values.begin() + static_cast<std::ptrdiff_t>(random() % 1400)});
    }
  }
}

TEST(ExactSum, AgreesWithIntegerSums) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> values(-(1LL << 50), 1LL << 50);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> terms;
    Int128 scaled = 0;
    for (int i = 0; i < 100; ++i) {
      const std::int64_t v = values(random);
      scaled += v;
      terms.push_back(std::ldexp(static_cast<double>(v), -30));
    }
    std::shuffle(terms.begin(), terms.end(), random);
    EXPECT_EQ(sum(terms), std::ldexp(static_cast<double>(scaled), -30));
  }
}

TEST(ExactSum, TakesPartsInUnits) {
  ExactSum sum;
  sum.add(0.75);
  sum.add_units(-3, 1072);  // 2^-2 each
  EXPECT_EQ(sum.rounded(), 0.0);
  sum.add_units(5, 0);
  EXPECT_EQ(sum.rounded(), 5 * std::numeric_limits<double>::denorm_min());
  sum.add_units((Int128{3} << 100) - 5, 0);
  EXPECT_EQ(sum.rounded(), 3 * std::ldexp(1.0, 100 - 1074));
  sum.add_units(-(Int128{3} << 100), 0);
  EXPECT_EQ(sum.rounded(), 0.0);
  sum.add_units(std::int64_t{1} << 40, 2080);
  EXPECT_EQ(sum.rounded(), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace gorgo
