#pragma once

#include <string>

#include "gorgo/diagnostics.hpp"

namespace gorgo::protocol {

struct Address {
  std::string host;  ///< a name or an IP address, without brackets
  std::string port;  ///< a number that is a port
};

/// Splits "HOST:PORT" of somebody to connect to; an IPv6 address stands in brackets. The port is a
/// number from 1 to 65535.
Result<Address> parse_address(const std::string& text);
/// Splits "HOST:PORT" of a place to listen at, where port 0 stands for a free one.
Result<Address> parse_listen_address(const std::string& text);

}  // namespace gorgo::protocol
