#pragma once

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <cstddef>
#include <map>

namespace gorgo::server {

/// How often logins from an address have failed. An address may fail ten times at once and then ten
/// times a minute; those of one network (`network_of`) count as one. One thread.
class Attempts {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Whether another login may be tried from there.
  bool may_try(const boost::asio::ip::address& from, Time now);
  void failed(const boost::asio::ip::address& from, Time now);

 private:
  /// So many addresses are remembered; beyond, the one that failed first is forgotten.
  static constexpr std::size_t kMostAddresses = 10'000;
  static constexpr std::chrono::seconds kOne{6};  // until a failure is forgiven
  static constexpr int kMost = 10;

  /// When all failures of an address are forgiven. It may try while that is near.
  std::map<boost::asio::ip::address, Time> forgiven_;

  void forget(Time now);
};

}  // namespace gorgo::server
