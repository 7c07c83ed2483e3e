#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/verb.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/value.hpp"
#include "server/http/problem.hpp"

namespace gorgo::server::http {

using Verb = boost::beast::http::verb;
using Head = boost::beast::http::request_header<>;

/// The path and the query of a request, with percent signs decoded.
struct Target {
  std::vector<std::string> path;  ///< between its slashes
  std::map<std::string, std::string> query;

  /// The query's value; nothing where it has no such key.
  std::optional<std::string> find(const std::string& key) const;
  /// Whether the key is there, and is neither "false" nor "0".
  bool flag(const std::string& key) const;
  /// An error: a key that `flag` is asked for has a value that says neither true nor false.
  Result<void> check_flags() const;
};

/// "/v1/rules/a%2Fb?replace=true". A key that stands twice is an error.
Result<Target> parse_target(std::string_view text);

/// The number that a key of the query has as its value.
Result<std::uint64_t> to_number(const std::string& key, const std::string& text);
/// The value of a key that names a time: milliseconds since 1970, with decimals down to the
/// nanosecond, or RFC 3339.
Result<Timestamp> to_time(const std::string& key, const std::string& text);

/// What follows a response.
enum class Then : std::uint8_t {
  next_request,
  deliveries,  ///< server-sent events, until the connection ends
  workbench,   ///< server-sent events about the server, until the connection ends
  web_socket,  ///< instead of a response the connection becomes a WebSocket
  editor,      ///< the same, for the Language Server Protocol
};

struct Response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
  Then then = Then::next_request;
  std::optional<std::uint32_t> most_per_second = {};  ///< deliveries of a stream; unset: all
};

/// Whether the request asks for a WebSocket.
bool is_upgrade(const Head& head);

/// `{"reason":..,"hint":..}`
Response response_of(const Problem& problem);

/// A header line that a list of words stands in holds the word, in any case: "Connection: a, b".
bool has_word(std::string_view list, std::string_view word);

/// The bytes of a response. `for_head`: without its body.
std::string to_bytes(const Response& response, bool keep_alive, bool for_head);

}  // namespace gorgo::server::http
