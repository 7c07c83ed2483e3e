#include "server/http/origin.hpp"

#include <algorithm>

#include "server/endpoint_text.hpp"

namespace gorgo::server::http {

bool is_allowed(std::string_view origin, const std::vector<std::string>& allowed,
                const boost::asio::ip::tcp::endpoint& local, bool secure) {
  const std::string scheme = secure ? "https" : "http";
  if (std::ranges::find(allowed, origin) != allowed.end()) return true;
  if (origin == scheme + "://" + to_string(local)) return true;
  return local.address().is_loopback() &&
         origin == scheme + "://localhost:" + std::to_string(local.port());
}

}  // namespace gorgo::server::http
