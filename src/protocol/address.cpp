#include "protocol/address.hpp"

namespace gorgo::protocol {

Result<Address> parse_address(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    return Error{"'" + text + "' is no address", "write HOST:PORT, as 127.0.0.1:7450"};
  }
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return Address{host, text.substr(colon + 1)};
}

}  // namespace gorgo::protocol
