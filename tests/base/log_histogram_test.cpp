#include "base/log_histogram.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gorgo {
namespace {

TEST(LogHistogram, IsEmptyAtFirst) {
  const LogHistogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.quantile(0.5), 0u);
  EXPECT_EQ(histogram.mean(), 0);
}

TEST(LogHistogram, SmallValuesAreExact) {
  LogHistogram histogram;
  for (std::uint64_t value = 0; value < 100; ++value) histogram.add(value);
  EXPECT_EQ(histogram.quantile(0.01), 0u);
  EXPECT_EQ(histogram.quantile(0.5), 49u);
  EXPECT_EQ(histogram.quantile(1), 99u);
  EXPECT_EQ(histogram.mean(), 49.5);
}

TEST(LogHistogram, QuantilesAreRightToWithinABucket) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> values;
  LogHistogram histogram, half;
  for (int i = 0; i < 100'000; ++i) {
    values.push_back(random() >> (random() % 64));
    (i % 2 == 0 ? histogram : half).add(values.back());
  }
  histogram.merge(half);
  std::ranges::sort(values);
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.most(), values.back());
  for (const double part : {0.001, 0.1, 0.5, 0.9, 0.99, 0.9999, 1.0}) {
    const auto exact = static_cast<double>(
        values[static_cast<std::size_t>(part * static_cast<double>(values.size())) - 1]);
    const auto got = static_cast<double>(histogram.quantile(part));
    EXPECT_GE(got, exact);
    EXPECT_LE(got, exact * (1 + 1.0 / 64) + 1) << part;
  }
  std::uint64_t count = 0, before = 0;
  histogram.for_each_bucket([&](std::uint64_t greatest, std::uint64_t in_bucket) {
    EXPECT_TRUE(count == 0 || greatest > before);
    before = greatest;
    count += in_bucket;
  });
  EXPECT_EQ(count, values.size());
}

TEST(LogHistogram, ForgetsWhatWasThereBefore) {
  LogHistogram histogram;
  histogram.add(5, 100);
  const LogHistogram before = histogram;
  histogram.add(1'000'000, 3);
  histogram.subtract(before);
  EXPECT_EQ(histogram.count(), 3u);
  EXPECT_EQ(histogram.quantile(0.01), 1'000'000u);
  EXPECT_EQ(histogram.mean(), 1'000'000);
}

}  // namespace
}  // namespace gorgo
