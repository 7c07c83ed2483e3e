#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/security/credentials.hpp"
#include "server/security/name_patterns.hpp"
#include "server/security/secrets.hpp"

// What strangers say about who they are, and the patterns and hashes of users. The first byte
// chooses which of them the rest is. The file of users as a whole is the operator's, and read by a
// library that asserts on some malformed texts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gorgo::server;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'A':
      if (const auto said = parse_authorization(text); said && said->empty()) std::abort();
      break;
    case 'P': {
      const auto end = text.find('\n');
      if (end == text.npos) break;
      const NamePatterns patterns{{std::string(text.substr(0, end))}, {}};
      const bool allowed = patterns.allows(text.substr(end + 1));
      if (patterns.allows_all() && !allowed) std::abort();
      break;
    }
    default:
      static_cast<void>(is_password_hash(text));
      static_cast<void>(is_token_hash(text));
  }
  return 0;
}
