#include "server/security/network_counts.hpp"

#include <algorithm>

namespace gorgo::server {

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

std::size_t NetworkCounts::of(const ip::address& address) const {
  const auto known = counts_.find(network_of(address));
  return known == counts_.end() ? 0 : known->second;
}

NetworkCounts::Counts::iterator NetworkCounts::add(const ip::address& from) {
  const auto at = counts_.try_emplace(network_of(from)).first;
  ++at->second;
  ++all_;
  return at;
}

void NetworkCounts::remove(Counts::iterator at) {
  --all_;
  if (--at->second == 0) counts_.erase(at);
}

}  // namespace gorgo::server
