#include "server/security/credentials.hpp"

#include <algorithm>
#include <cctype>

#include "server/security/secrets.hpp"

namespace gorgo::server {
namespace {

constexpr const char* kForms = "send 'Authorization: Bearer TOKEN' or 'Authorization: Basic ..'";

/// Without upper and lower case; both are ASCII.
bool is_scheme(std::string_view text, std::string_view scheme) {
  return std::ranges::equal(text, scheme, [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  });
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

Result<Credentials> basic(std::string_view encoded) {
  const auto pair = decode_base64(encoded);
  if (!pair) return Error{"the user and the password are not in Base64", kForms};
  const auto colon = pair->find(':');
  if (colon == pair->npos || colon == 0) {
    return Error{"there is no user and password before and behind a colon", kForms};
  }
  return Credentials{pair->substr(0, colon), pair->substr(colon + 1), ""};
}

}  // namespace

Result<Credentials> parse_authorization(std::string_view header) {
  header = trimmed(header);
  const auto space = std::min(header.find(' '), header.size());
  const auto scheme = header.substr(0, space), value = trimmed(header.substr(space));
  if (value.empty()) return Error{"the header Authorization says nothing", kForms};
  if (is_scheme(scheme, "Bearer")) return Credentials{"", "", std::string(value)};
  if (is_scheme(scheme, "Basic")) return basic(value);
  return Error{"the header Authorization has an unknown scheme", kForms};
}

}  // namespace gorgo::server
