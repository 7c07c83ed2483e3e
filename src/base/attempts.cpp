#include "base/attempts.hpp"

#include <algorithm>

#include "base/network_of.hpp"

namespace gorgo {

namespace ip = boost::asio::ip;

bool Attempts::may_try(const ip::address& from, Time now) const {
  const auto known = forgiven_.find(network_of(from));
  return known == forgiven_.end() || known->second - now <= bounds_.one * (bounds_.most - 1);
}

void Attempts::failed(const ip::address& from, Time now) {
  if (forgiven_.size() >= kMostAddresses) forget(now);
  Time& forgiven = forgiven_[network_of(from)];
  forgiven = std::max(forgiven, now) + bounds_.one;
}

void Attempts::forget(Time now) {
  std::erase_if(forgiven_, [&](const auto& entry) { return entry.second <= now; });
  if (forgiven_.size() < kMostAddresses) return;
  forgiven_.erase(
      std::ranges::min_element(forgiven_, {}, [](const auto& entry) { return entry.second; }));
}

}  // namespace gorgo
