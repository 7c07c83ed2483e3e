#pragma once

#include <optional>
#include <string_view>
#include <utility>

/// Pieces of the lines of a rule test.
namespace gorgo::tools {

inline std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Cuts `text` at the first `separator`; nothing when there is none.
inline std::optional<std::pair<std::string_view, std::string_view>> cut(
    std::string_view text, std::string_view separator) {
  const std::size_t at = text.find(separator);
  if (at == text.npos) return std::nullopt;
  return std::pair(trimmed(text.substr(0, at)), trimmed(text.substr(at + separator.size())));
}

/// Whether the text, which is trimmed already, is empty or a comment.
inline bool is_blank(std::string_view text) { return text.empty() || text.starts_with('#'); }

}  // namespace gorgo::tools
