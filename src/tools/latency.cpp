#include "tools/latency.hpp"

#include <algorithm>
#include <cstdio>

namespace gorgo::tools {

std::string Latency::summary() const {
  if (ages_.empty()) return "latency: no events";
  std::vector<Duration> sorted = ages_;
  std::ranges::sort(sorted);
  // The smallest age that so many percent of the events do not exceed.
  const auto percentile = [&](std::size_t percent) {
    return static_cast<double>(sorted[(sorted.size() * percent + 99) / 100 - 1]) / 1e6;
  };
  char text[160];
  std::snprintf(text, sizeof text, "latency: p50 %.2f ms, p99 %.2f ms, max %.2f ms over %zu events",
                percentile(50), percentile(99), percentile(100), sorted.size());
  return text;
}

}  // namespace gorgo::tools
