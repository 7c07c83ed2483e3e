#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "gorgo/diagnostics.hpp"
#include "server/security/rate_limit.hpp"
#include "server/security/user.hpp"

namespace gorgo::server {

/// What all connections of a user take together. Belongs to the I/O thread.
struct Account {
  std::size_t connections = 0;
  RateLimit events, bytes;

  // Since the server started.
  std::uint64_t refused_connections = 0;
  std::uint64_t event_waits = 0;  ///< requests that waited for events_per_second
  std::uint64_t byte_waits = 0;   ///< requests that waited for bytes_per_second
};

/// The accounts of all users that have connected, by name. They outlast connections and reloads.
class Accounts {
 public:
  std::shared_ptr<Account> of(const std::string& user);
  const std::map<std::string, std::shared_ptr<Account>>& all() const { return accounts_; }

 private:
  std::map<std::string, std::shared_ptr<Account>> accounts_;
};

/// A connection's place in the account of its user.
class AccountShare {
 public:
  using Time = RateLimit::Time;
  using Wait = RateLimit::Wait;

  AccountShare() = default;
  ~AccountShare() { leave(); }
  AccountShare(const AccountShare&) = delete;
  AccountShare& operator=(const AccountShare&) = delete;

  /// Counts the connection among those of the user, and no longer among those of another one. An
  /// error: the user has as many as its limit allows; nothing has changed.
  Result<void> enter(Accounts& accounts, const User& user);
  void leave();

  /// How long the next request has to wait for the rates of the user; zero: not at all.
  Wait wait(const UserLimits& limits, Time now) const;
  /// Counts a request that has to wait.
  void note_wait(const UserLimits& limits, Time now);
  /// Counts a request of so many events and bytes against the rates.
  void take(const UserLimits& limits, std::size_t events, std::size_t bytes, Time now);

 private:
  std::shared_ptr<Account> account_;  // null: of nobody
};

}  // namespace gorgo::server
