#include "doors/shown.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

namespace gorgo::doors {
namespace {

constexpr const char* kHidden = "...";

/// A URL in two parts.
struct Divided {
  std::string server;  // the scheme, the host and its port, without who the user is
  std::string rest;    // from the path on
};

/// Empty: it is no URL.
std::optional<Divided> divide(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == url.npos) return {};
  const std::size_t begin = scheme + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  const std::size_t user = url.substr(begin, end - begin).rfind('@');
  const std::size_t host = user == url.npos ? begin : begin + user + 1;
  return Divided{url.substr(0, begin) + url.substr(host, end - host), url.substr(end)};
}

}  // namespace

std::string without_secrets(const std::string& url) {
  const auto divided = divide(url);
  if (!divided) return kHidden;
  return divided->server + (divided->rest.empty() ? "" : "/...");
}

std::string without_values(const std::string& url) {
  const auto divided = divide(url);
  if (!divided) return kHidden;
  const std::string& rest = divided->rest;
  const std::size_t query = std::min(rest.find_first_of("?#"), rest.size());
  std::string shown = divided->server + rest.substr(0, query);
  if (query == rest.size() || rest[query] == '#') return shown;
  std::istringstream parts(rest.substr(query + 1, rest.find('#', query) - query - 1));
  char before = '?';
  for (std::string part; std::getline(parts, part, '&'); before = '&') {
    const std::size_t equal = part.find('=');
    shown += before + (equal == part.npos ? kHidden : part.substr(0, equal + 1) + kHidden);
  }
  return shown;
}

SettingValue shown(const std::string& key, const SettingValue& value) {
  const auto* const text = std::get_if<std::string>(&value);
  if (key == "url" && text != nullptr) return without_secrets(*text);
  const auto says = [&](const char* part) { return text->find(part) != text->npos; };
  if (key == "database" && text != nullptr && (says("password") || says("://"))) {
    return without_secrets(*text);
  }
  if (key != "headers" && key != "properties") return value;
  auto table = std::get<std::map<std::string, std::string>>(value);
  for (auto& [name, secret] : table) secret = kHidden;
  return table;
}

}  // namespace gorgo::doors
