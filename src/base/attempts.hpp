#pragma once

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <cstddef>
#include <map>

namespace gorgo {

/// How often logins from an address have failed. Those of one network (`network_of`) count as one.
/// One thread.
class Attempts {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Bounds {
    int most;                       ///< failures at once
    std::chrono::milliseconds one;  ///< until a failure is forgiven
  };

  explicit Attempts(Bounds bounds) : bounds_(bounds) {}

  /// Whether another login may be tried from there.
  bool may_try(const boost::asio::ip::address& from, Time now) const;
  void failed(const boost::asio::ip::address& from, Time now);

 private:
  /// So many addresses are remembered; beyond, the one that failed first is forgotten.
  static constexpr std::size_t kMostAddresses = 10'000;

  const Bounds bounds_;
  /// When all failures of an address are forgiven. It may try while that is near.
  std::map<boost::asio::ip::address, Time> forgiven_;

  void forget(Time now);
};

}  // namespace gorgo
