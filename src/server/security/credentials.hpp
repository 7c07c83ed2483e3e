#pragma once

#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"

namespace gorgo::server {

/// What a client says about who it is: a token, or a user and the password.
struct Credentials {
  std::string user, password, token;

  bool empty() const { return user.empty() && password.empty() && token.empty(); }
  friend bool operator==(const Credentials&, const Credentials&) = default;
};

/// Reads the value of a header `Authorization`: `Bearer TOKEN` (RFC 6750) or `Basic` with a user
/// and a password (RFC 7617). Errors never quote it.
Result<Credentials> parse_authorization(std::string_view header);

}  // namespace gorgo::server
