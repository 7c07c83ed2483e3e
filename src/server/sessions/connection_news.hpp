#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/server_counters.hpp"

namespace gorgo::server {

/// A connection that has opened or ended.
struct ConnectionChange {
  ConnectionInfo connection;
  bool is_open = false;
  std::string reason = {};  ///< why it has ended
};

/// Brings what becomes of connections from the I/O thread to the engine thread, while somebody
/// there wants it. Thread-safe.
class ConnectionNews {
 public:
  /// More changes between two calls of `take` are left out.
  static constexpr std::size_t kMost = 10'000;

  void note(ConnectionChange change) {
    open_ += change.is_open ? 1 : -1;
    if (!is_wanted_) return;
    const std::lock_guard lock(mutex_);
    if (changes_.size() < kMost) changes_.push_back(std::move(change));
  }
  /// What has come since the last call, if it was wanted then; further changes are kept where they
  /// are `wanted`.
  std::vector<ConnectionChange> take(bool wanted) {
    is_wanted_ = wanted;
    const std::lock_guard lock(mutex_);
    return std::exchange(changes_, {});
  }
  /// Connections that are open.
  std::int64_t open() const { return open_; }

 private:
  std::atomic<std::int64_t> open_ = 0;
  std::atomic<bool> is_wanted_ = false;

  std::mutex mutex_;  // guards all below; no other lock is taken while it is held
  std::vector<ConnectionChange> changes_;
};

}  // namespace gorgo::server
