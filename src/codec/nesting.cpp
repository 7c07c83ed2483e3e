#include "codec/nesting.hpp"

#include <algorithm>

namespace gorgo::codec {
namespace {

/// The place behind the string that begins at `at`, or the end of the text.
std::size_t behind_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote; ++at) {
    if (text[at] == '\\' && quote == '"') ++at;
  }
  return std::min(at + 1, text.size());
}

/// As `behind_string`, where three quotes begin a string that may have single ones.
std::size_t behind_toml_string(std::string_view text, std::size_t at) {
  const std::string_view three = text.substr(at, 3);
  const bool is_long = three == R"(""")" || three == "'''";
  if (!is_long) return behind_string(text, at);
  const std::size_t end = text.find(three, at + 3);
  return end == text.npos ? text.size() : end + 3;
}

}  // namespace

bool is_deep_toml(std::string_view text) {
  std::size_t parts = 1;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = behind_toml_string(text, at);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '.' && ++parts > kDeepest) return true;
    if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) parts = 1;
    ++at;
  }
  return false;
}

}  // namespace gorgo::codec
