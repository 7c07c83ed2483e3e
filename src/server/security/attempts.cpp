#include "server/security/attempts.hpp"

#include <algorithm>

#include "server/security/network_counts.hpp"

namespace gorgo::server {

namespace ip = boost::asio::ip;

bool Attempts::may_try(const ip::address& from, Time now) {
  const auto known = forgiven_.find(network_of(from));
  return known == forgiven_.end() || known->second - now <= kOne * (kMost - 1);
}

void Attempts::failed(const ip::address& from, Time now) {
  if (forgiven_.size() >= kMostAddresses) forget(now);
  Time& forgiven = forgiven_[network_of(from)];
  forgiven = std::max(forgiven, now) + kOne;
}

void Attempts::forget(Time now) {
  std::erase_if(forgiven_, [&](const auto& entry) { return entry.second <= now; });
  if (forgiven_.size() < kMostAddresses) return;
  forgiven_.erase(
      std::ranges::min_element(forgiven_, {}, [](const auto& entry) { return entry.second; }));
}

}  // namespace gorgo::server
