#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <cctype>
#include <string>

namespace gorgo::server {

/// "127.0.0.1:7450", "[::1]:7450".
inline std::string to_string(const boost::asio::ip::tcp::endpoint& endpoint) {
  const auto host = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + host + "]" : host) + ":" +
         std::to_string(endpoint.port());
}

/// What the system says of a failure, as the end of a sentence.
inline std::string plain(const boost::system::error_code& failure) {
  std::string text = failure.message();
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  // "PEM lib" begins with an abbreviation.
  if (text.size() > 1 && std::islower(at(1)) != 0) text[0] = static_cast<char>(std::tolower(at(0)));
  return text;
}

}  // namespace gorgo::server
