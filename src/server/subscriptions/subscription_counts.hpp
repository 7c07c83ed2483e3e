#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "gorgo/diagnostics.hpp"
#include "server/security/user.hpp"
#include "server/sessions/outbox.hpp"

namespace gorgo::server {

/// Counts the subscriptions of each connection, and of each user over all of its connections.
/// Belongs to the engine thread.
class SubscriptionCounts {
 public:
  /// An error: the user has as many as its limit allows. `user` may be null.
  Result<void> check(const User* user);
  /// An error: `count` durable subscriptions, with a connection or without, are as many as the
  /// user's limit allows. `user` may be null.
  Result<void> check_durable(const User* user, std::size_t count);
  void added(Outbox& client, const User* user);
  void removed(Outbox& client);
  /// The client has gone.
  void removed_all(Outbox& client);

  /// Subscriptions that were refused, by user.
  const std::map<std::string, std::uint64_t>& refused() const { return refused_; }

 private:
  struct OfClient {
    std::string user;
    std::size_t count = 0;
  };
  std::map<std::string, std::size_t> by_user_;
  std::unordered_map<std::uint64_t, OfClient> by_client_;  // by Outbox::id
  std::map<std::string, std::uint64_t> refused_;

  Result<void> check(const User& user, std::size_t count, const std::string& what);
  void subtract(const std::string& user, std::size_t count);
};

}  // namespace gorgo::server
