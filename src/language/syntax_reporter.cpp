#include "language/syntax_reporter.hpp"

#include <algorithm>

namespace gorgo::language {
namespace {

/// A line that nobody could read on a screen would be copied into every diagnostic.
std::string shown(std::string_view line) {
  constexpr std::size_t kLongest = 1000;
  return line.size() > kLongest ? "" : std::string(line);
}

}  // namespace

SyntaxReporter::SyntaxReporter(std::string path, std::string_view text)
    : path_(std::move(path)), text_(text), line_starts_{0} {
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) {
    line_starts_.push_back(at + 1);
  }
}

void SyntaxReporter::error(Location at, std::string message, std::string hint) {
  if (full()) return;
  if (list_.size() == kMaxDiagnostics) {
    message = "too many errors, the rest is not shown";
    hint.clear();
  }
  list_.push_back({.severity = Severity::error,
                   .file = path_,
                   .at = at,
                   .message = std::move(message),
                   .hint = std::move(hint),
                   .source_line = shown(line(at.line))});
}

Location SyntaxReporter::locate(std::size_t offset, std::size_t length) const {
  const auto next = std::ranges::upper_bound(line_starts_, offset);
  const auto number = static_cast<std::uint32_t>(next - line_starts_.begin());
  const std::size_t start = *(next - 1);
  const std::size_t end = start + line(number).size();
  const std::size_t visible = std::min(offset + length, std::max(end, offset + 1)) - offset;
  return {.line = number,
          .column = static_cast<std::uint32_t>(offset - start + 1),
          .length = static_cast<std::uint32_t>(std::max<std::size_t>(visible, 1))};
}

Diagnostics SyntaxReporter::take() {
  // The message that ends a cut list stays last.
  const auto end = full() ? list_.end() - 1 : list_.end();
  std::stable_sort(list_.begin(), end, [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
  });
  return {std::move(list_)};
}

std::string_view SyntaxReporter::line(std::uint32_t number) const {
  const std::size_t start = line_starts_[number - 1];
  std::string_view line = text_.substr(start, text_.find('\n', start) - start);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace gorgo::language
