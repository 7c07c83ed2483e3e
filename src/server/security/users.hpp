#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/security/user.hpp"

namespace gorgo::server {

/// Who may connect. Immutable; any thread.
class Users {
 public:
  /// Reads a file of users (docs/security.md), which others must not be able to read. An error
  /// names the place, and never quotes a hash.
  static Result<std::shared_ptr<const Users>> read(const std::string& path);
  static Result<std::shared_ptr<const Users>> parse(std::string_view text, const std::string& path);

  /// What is other than before, in words: `user 'ann': new`.
  std::vector<std::string> changes_since(const Users& before) const;
  /// Null: there is no such user.
  UserPtr find(const std::string& name) const;
  /// The user whose token this is, or null.
  UserPtr with_token(std::string_view token) const;
  /// A hash that a password is compared with where its user has none or is unknown, so that both
  /// take the same time. Empty: nobody has a password.
  const std::string& decoy() const { return decoy_; }

 private:
  std::map<std::string, UserPtr> users_;
  std::unordered_map<std::string, UserPtr> tokens_;  // by hash
  std::string decoy_;

  Result<void> add(User user);
};

}  // namespace gorgo::server
