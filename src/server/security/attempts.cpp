#include "server/security/attempts.hpp"

#include <algorithm>

namespace gorgo::server {
namespace {

namespace ip = boost::asio::ip;

ip::address network_of(const ip::address& address) {
  if (!address.is_v6()) return address;
  if (address.to_v6().is_v4_mapped()) {
    return ip::make_address_v4(ip::v4_mapped, address.to_v6());
  }
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  return ip::address_v6(bytes);
}

}  // namespace

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
