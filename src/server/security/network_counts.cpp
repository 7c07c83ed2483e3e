#include "server/security/network_counts.hpp"

#include "base/network_of.hpp"

namespace gorgo::server {

namespace ip = boost::asio::ip;

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
