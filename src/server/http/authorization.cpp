#include "server/http/authorization.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "server/security/secrets.hpp"

namespace gorgo::server::http {
namespace {

using Field = boost::beast::http::field;

constexpr std::string_view kTokenProtocol = "gorgo.token.";

/// The words of a header that is a list.
std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    auto word = list.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    words.push_back(word);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return words;
}

std::vector<std::string_view> protocols_of(const Head& head) {
  const auto field = head[Field::sec_websocket_protocol];
  return words_of({field.data(), field.size()});
}

}  // namespace

bool offers_protocol(const Head& head) {
  const auto offered = protocols_of(head);
  return std::ranges::find(offered, kWebSocketProtocol) != offered.end();
}

Result<Credentials> credentials_of(const Head& head) {
  if (head.count(Field::authorization) > 1) {
    return Error{"the header Authorization stands twice", "send one"};
  }
  const auto field = head[Field::authorization];
  if (!field.empty()) return parse_authorization({field.data(), field.size()});
  if (!is_upgrade(head)) return Credentials();
  for (const std::string_view protocol : protocols_of(head)) {
    if (!protocol.starts_with(kTokenProtocol)) continue;
    return Credentials{"", "", std::string(protocol.substr(kTokenProtocol.size()))};
  }
  return Credentials();
}

std::string hash_of_credentials(const Credentials& said) {
  const auto sized = [](const std::string& text) {
    return std::to_string(text.size()) + ":" + text;
  };
  return hash_of_token(sized(said.user) + sized(said.password) + sized(said.token));
}

Response unauthorized(unsigned status, const Error& why, const Head& head) {
  Response response = response_of(Problem{status, why});
  if (status != 401) return response;
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"gorgo\"");
  // Where a page asks, a browser would meet `Basic` with a window for a name and a password, and
  // keep the answer from the page until that is closed.
  const auto mode = head["Sec-Fetch-Mode"];
  if (mode.empty() || mode == "navigate") {
    response.headers.emplace_back("WWW-Authenticate", "Basic realm=\"gorgo\", charset=\"UTF-8\"");
  }
  return response;
}

Response not_admin(const User& user) {
  return response_of(Problem{403,
                             {"the user '" + user.name + "' is no administrator",
                              "it takes the permission admin = true in the file of users"}});
}

const UserPtr& scraper() {
  static const UserPtr user = std::make_shared<const User>(
      User{.name = "the scraper of metrics", .sees_rules = true, .admin = true});
  return user;
}

}  // namespace gorgo::server::http
