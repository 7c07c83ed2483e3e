#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/security/name_patterns.hpp"

namespace gorgo::server {

/// How much all connections of a user may take together. 0: no limit.
struct UserLimits {
  std::uint64_t connections = 0;
  std::uint64_t subscriptions = 0;
  std::uint64_t events_per_second = 0;
  std::uint64_t bytes_per_second = 0;  ///< of requests, as frames of the native protocol

  friend bool operator==(const UserLimits&, const UserLimits&) = default;
};

/// Somebody who may connect, and what for. Immutable once it is shared. Any thread.
struct User {
  std::string name;
  std::string password_hash;              ///< empty: no password will do
  std::vector<std::string> token_hashes;  ///< as `hash_of_token` gives them
  NamePatterns publish;                   ///< types of events
  NamePatterns subscribe;                 ///< types of events
  bool sees_rules = false;                ///< rules, their texts, and the types that they read
  bool deploys_rules = false;             ///< and replaces them
  bool removes_rules = false;
  NamePatterns deployments = {{"*"}, {}};  ///< whose rules the user may see, deploy and remove
  bool blocks = false;                     ///< may have publishers wait for a slow subscription
  /// Connections, metrics, devices, statistics, the engines of rules, why, trace, reloads, and
  /// what `blocks` allows.
  bool admin = false;
  UserLimits limits;

  friend bool operator==(const User&, const User&) = default;
};

inline bool are_same_but_for_limits(const User& one, User other) {
  other.limits = one.limits;
  return one == other;
}

/// Null: the server asks nobody who he is, and everybody may do everything.
using UserPtr = std::shared_ptr<const User>;

/// Empty: nobody was asked.
inline std::string name_of(const UserPtr& user) { return user == nullptr ? "" : user->name; }

}  // namespace gorgo::server
