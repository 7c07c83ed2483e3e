#include "language/comments.hpp"

#include <algorithm>

namespace gorgo::language {
namespace {

bool is_line_comment(std::string_view text) {
  return text.starts_with('#') || text.starts_with("//");
}

/// The length of the comment that `text` begins with; 0: it begins with none.
std::size_t comment_length(std::string_view text) {
  if (is_line_comment(text)) return std::min(text.find_first_of("\r\n"), text.size());
  if (!text.starts_with("/*")) return 0;
  const std::size_t end = text.find("*/", 2);
  return end == text.npos ? text.size() : end + 2;
}

/// The comment without the line ends of other systems, and without the blanks that a line comment
/// ends with.
std::string clean(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      result += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      result += '\n';
    }
  }
  if (is_line_comment(result)) result.erase(result.find_last_not_of(" \t\f") + 1);
  return result;
}

}  // namespace

bool Comment::ends_line() const { return is_line_comment(text) || text.find('\n') != text.npos; }

Gap read_gap(std::string_view text) {
  Gap gap;
  std::size_t lines = 0;
  while (!text.empty()) {
    if (const std::size_t length = comment_length(text); length > 0) {
      gap.comments.push_back({clean(text.substr(0, length)), lines});
      lines = 0;
      text.remove_prefix(length);
      continue;
    }
    const bool line_end = text[0] == '\n' || (text[0] == '\r' && !text.starts_with("\r\n"));
    if (line_end) ++lines;
    if (text[0] == ';') lines = 0;  // as if it stood where it will be printed
    text.remove_prefix(1);
  }
  gap.lines_after = lines;
  return gap;
}

}  // namespace gorgo::language
