#include "server/http/message.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "codec/timestamp.hpp"

namespace gorgo::server::http {
namespace {

namespace beast = boost::beast;

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Nothing where a percent sign is not followed by two digits.
std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = digit_of(text[i + 1]), low = digit_of(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      decoded += static_cast<char>(16 * high + low);
      i += 2;
    }
  }
  return decoded;
}

/// Takes what stands before the separator off the text.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const auto before = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return before;
}

Error not_encoded() {
  return {"a percent sign in the target is not followed by two hexadecimal digits",
          "write it as %25"};
}

Result<void> parse_query(std::string_view text, std::map<std::string, std::string>& query) {
  while (!text.empty()) {
    std::string_view value = take_until(text, '&');
    if (value.empty()) continue;
    const auto name = decode(take_until(value, '='), true), decoded = decode(value, true);
    if (!name || !decoded) return not_encoded();
    if (!query.emplace(*name, *decoded).second) {
      return Error{"'" + *name + "' stands twice in the query", ""};
    }
  }
  return {};
}

}  // namespace

std::optional<std::string> Target::find(const std::string& key) const {
  const auto found = query.find(key);
  return found == query.end() ? std::nullopt : std::optional(found->second);
}

bool Target::flag(const std::string& key) const {
  const auto value = find(key);
  return value && *value != "false" && *value != "0";
}

Result<void> Target::check_flags() const {
  for (const char* key : {"replace", "with_history", "shadow", "closed", "deployment"}) {
    const auto value = find(key);
    constexpr std::array<std::string_view, 5> kKnown = {"", "true", "1", "false", "0"};
    if (!value || std::ranges::find(kKnown, *value) != kKnown.end()) continue;
    return Error{"'" + std::string(key) + "=" + *value + "' is neither true nor false",
                 "write true or false"};
  }
  return {};
}

Result<Target> parse_target(std::string_view text) {
  if (text.empty() || text[0] != '/') {
    return Error{"the target is no path", "begin it with a slash"};
  }
  Target target;
  std::string_view path = take_until(text, '?');
  path.remove_prefix(1);
  while (!path.empty()) {
    const auto part = decode(take_until(path, '/'), false);
    if (!part) return not_encoded();
    target.path.push_back(*part);
  }
  if (const auto read = parse_query(text, target.query); !read) return read.error();
  if (const auto checked = target.check_flags(); !checked) return checked.error();
  return target;
}

Result<std::uint64_t> to_number(const std::string& key, const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc() && end == text.data() + text.size()) return number;
  return Error{"'" + key + "=" + text + "': expected a number from 0 to 18446744073709551615", ""};
}

Result<Timestamp> to_time(const std::string& key, const std::string& text) {
  if (const auto time = codec::parse_timestamp(text)) return *time;
  return Error{"'" + key + "=" + text + "': expected a time",
               "milliseconds since 1970, as 1774828800000.5, or 2026-03-30T00:00:00Z"};
}

Response response_of(const Problem& problem) {
  nlohmann::ordered_json json = {{"reason", problem.why.message}, {"hint", problem.why.hint}};
  Response response{.status = problem.status, .body = {}};
  response.body = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (problem.status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

bool has_word(std::string_view list, std::string_view word) {
  return beast::http::token_list({list.data(), list.size()}).exists({word.data(), word.size()});
}

bool is_upgrade(const Head& head) { return beast::websocket::is_upgrade(head); }

std::string to_bytes(const Response& response, bool keep_alive, bool for_head) {
  const auto phrase =
      beast::http::obsolete_reason(static_cast<beast::http::status>(response.status));
  std::string text = "HTTP/1.1 " + std::to_string(response.status) + " " +
                     std::string(phrase.data(), phrase.size()) + "\r\n";
  if (!response.body.empty() || response.then == Then::deliveries ||
      response.then == Then::workbench)
    text += "Content-Type: " + response.content_type + "\r\n";
  const bool has_body = response.status != 204 && response.status != 304;
  if (has_body && response.then == Then::next_request) {
    text += "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
  }
  for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
  text += keep_alive ? "\r\n" : "Connection: close\r\n\r\n";
  if (!for_head) text += response.body;
  return text;
}

}  // namespace gorgo::server::http
