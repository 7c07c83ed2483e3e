#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "server/http/delivery_text.hpp"
#include "server/subscriptions/delivery.hpp"

namespace gorgo::server::http {

/// Which subscriptions of a WebSocket get a sample, and what of it.
class SocketSamples {
 public:
  /// The subscription gets at most so many rows a second; without `most` it gets all.
  void set(std::uint32_t subscription, std::optional<std::uint32_t> most);
  bool empty() const { return samples_.empty(); }
  /// Whether each row of the delivery passes; empty: all do. Those of a sample that pass are spread
  /// over its rows.
  std::vector<bool> admit(const ClientDelivery& delivery, Sample::Time now);
  /// How many rows of which subscription did not pass since this was called last.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> take_left_out();

 private:
  std::map<std::uint32_t, Sample> samples_;  // by subscription
};

}  // namespace gorgo::server::http
