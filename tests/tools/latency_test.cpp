#include "tools/latency.hpp"

#include <gtest/gtest.h>

namespace gorgo::tools {
namespace {

TEST(Latency, SummarisesByNearestRank) {
  Latency latency;
  EXPECT_EQ(latency.summary(), "latency: no events");
  latency.add(3'000'000);
  EXPECT_EQ(latency.summary(), "latency: p50 3.00 ms, p99 3.00 ms, max 3.00 ms over 1 events");
  for (int i = 100; i >= 1; --i) latency.add(i * 10'000'000);
  // 101 values: 3, then 10 to 1000 in tens
  EXPECT_EQ(latency.summary(),
            "latency: p50 500.00 ms, p99 990.00 ms, max 1000.00 ms over 101 events");
}

}  // namespace
}  // namespace gorgo::tools
