#include "server/http/origin.hpp"

#include <algorithm>

#include "server/endpoint_text.hpp"

namespace gorgo::server::http {

bool is_allowed(std::string_view origin, const std::vector<std::string>& allowed,
                const boost::asio::ip::tcp::endpoint& local) {
  if (std::ranges::find(allowed, origin) != allowed.end()) return true;
  if (origin == "http://" + to_string(local)) return true;
  return local.address().is_loopback() &&
         origin == "http://localhost:" + std::to_string(local.port());
}

}  // namespace gorgo::server::http
