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

Result<void> check_origins(const std::vector<std::string>& origins) {
  for (const std::string& origin : origins) {
    const auto scheme = origin.find("://");
    const bool has_host = scheme != origin.npos && scheme > 0 && scheme + 3 < origin.size();
    const bool ends_there = has_host && origin.find_first_of("/ *?#", scheme + 3) == origin.npos;
    const bool is_lower = std::ranges::none_of(origin, [](char c) { return c >= 'A' && c <= 'Z'; });
    if (ends_there && is_lower) continue;
    return Error{"http.origins: '" + origin + "' is no origin of a page",
                 "scheme, host and port as browsers send them, such as https://app.example:8443"};
  }
  return {};
}

}  // namespace gorgo::server::http
