#pragma once

#include <string>

#include "gorgo/diagnostics.hpp"

namespace gorgo::protocol {

struct Address {
  std::string host;  ///< a name or an IP address, without brackets
  std::string port;
};

/// Splits "HOST:PORT"; an IPv6 address stands in brackets.
Result<Address> parse_address(const std::string& text);

}  // namespace gorgo::protocol
