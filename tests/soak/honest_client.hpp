#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "gorgo/event.hpp"

namespace gorgo::soak {

/// What one well-behaved client saw.
struct Account {
  std::uint64_t accepted = 0;       ///< events that the server acknowledged
  std::uint64_t refused = 0;        ///< events that it refused, which were sent again
  std::uint64_t delivered = 0;      ///< composites, each exactly once and in order
  std::vector<Duration> latencies;  ///< from the planned time of sending to the arrival
  std::string failure;              ///< empty: all adds up
};

/// A client that publishes `Beat<number>` events at a fixed rate, whatever the server does, and
/// gets a `Pulse<number>` for each. Two threads and two connections.
class HonestClient {
 public:
  /// Rules that make a pulse of each beat.
  static std::string rules(int clients);

  HonestClient(int number, const std::string& address, std::chrono::microseconds period);
  ~HonestClient();

  /// Sends no more, waits until everything accepted has been delivered, and returns the account.
  Account finish();

 private:
  using Clock = std::chrono::steady_clock;

  const int number_;
  const std::string address_;
  const std::chrono::microseconds period_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> failed_ = false;
  std::atomic<std::uint64_t> expected_ = 0;  // known when the publisher has ended
  std::atomic<bool> published_all_ = false;
  std::string problems_[2];  // of the publisher, of the subscriber
  Account account_;          // each thread writes its own members
  std::atomic<bool> subscribed_ = false;
  std::thread subscriber_;
  std::thread publisher_;

  void subscribe();
  void publish();
  void fail(int side, const std::string& what);
  bool take(const Event& pulse, std::int64_t& next);
};

}  // namespace gorgo::soak
