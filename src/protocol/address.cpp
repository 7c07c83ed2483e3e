#include "protocol/address.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>

namespace gorgo::protocol {
namespace {

bool is_port(std::string_view text, std::uint16_t least) {
  std::uint16_t port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && port >= least;
}

/// The host without its brackets; empty where it is none.
std::string host_in(const std::string& text) {
  const bool bracketed = text.starts_with('[') && text.ends_with(']');
  if (bracketed) return text.substr(1, text.size() - 2);
  return text.find_first_of("[]:") == text.npos ? text : "";
}

Result<Address> parse(const std::string& text, std::uint16_t least_port) {
  const auto colon = text.rfind(':');
  Address address;
  if (colon != text.npos) address = {host_in(text.substr(0, colon)), text.substr(colon + 1)};
  if (address.host.empty() || address.port.empty()) {
    return Error{"'" + text + "' is no address",
                 "write HOST:PORT, as 127.0.0.1:7450, and an IPv6 host in brackets, as [::1]:7450"};
  }
  if (is_port(address.port, least_port)) return address;
  return Error{"'" + text + "' is no address: '" + address.port + "' is no port",
               "a port is a number from " + std::to_string(least_port) + " to 65535"};
}

}  // namespace

Result<Address> parse_address(const std::string& text) { return parse(text, 1); }

Result<Address> parse_listen_address(const std::string& text) { return parse(text, 0); }

}  // namespace gorgo::protocol
