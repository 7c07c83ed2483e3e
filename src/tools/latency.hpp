#pragma once

#include <string>
#include <vector>

#include "gorgo/value.hpp"

namespace gorgo::tools {

/// How old events are when they arrive: the time from the server's stamp to here. It means
/// something only where both clocks are one.
class Latency {
 public:
  void add(Duration age) { ages_.push_back(age); }
  /// `latency: p50 0.42 ms, p99 1.30 ms, max 2.00 ms over 1000 events`
  std::string summary() const;

 private:
  std::vector<Duration> ages_;  // nanoseconds
};

}  // namespace gorgo::tools
