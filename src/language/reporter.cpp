#include "language/reporter.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::language {
namespace {

constexpr std::string_view kTooMany = "too many errors, the rest is not shown";

/// The line as diagnostics show it: empty when nobody could read it on a screen, because it would
/// be copied into every diagnostic.
std::string shown(std::string_view line) {
  constexpr std::size_t kLongestLine = 1000;
  return line.size() > kLongestLine ? "" : std::string(line);
}

std::string cut(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  return std::string(text.substr(0, longest)) + "...";
}

}  // namespace

Reporter::Reporter(std::string path, std::string_view text)
    : path_(std::move(path)), text_(text), line_starts_{0} {
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) {
    line_starts_.push_back(at + 1);
  }
}

void Reporter::error(Location at, std::string message, std::string hint) {
  if (full()) return;
  if (++errors_ > kMaxDiagnostics) {
    message = kTooMany;
    hint.clear();
  }
  add(Severity::error, at, std::move(message), std::move(hint));
}

void Reporter::warning(Location at, std::string message, std::string hint) {
  if (++warnings_ > kMaxDiagnostics) return;
  add(Severity::warning, at, std::move(message), std::move(hint));
}

void Reporter::add(Severity severity, Location at, std::string message, std::string hint) {
  list_.push_back({.severity = severity,
                   .file = path_,
                   .at = at,
                   .message = std::move(message),
                   .hint = std::move(hint),
                   .source_line = shown(line(at.line))});
}

Location Reporter::locate(std::size_t offset, std::size_t length) const {
  const auto next = std::ranges::upper_bound(line_starts_, offset);
  const auto number = static_cast<std::uint32_t>(next - line_starts_.begin());
  const std::size_t start = *(next - 1);
  const std::size_t end = start + line(number).size();
  const std::size_t visible = std::min(offset + length, std::max(end, offset + 1)) - offset;
  return {.line = number,
          .column = static_cast<std::uint32_t>(offset - start + 1),
          .length = static_cast<std::uint32_t>(std::max<std::size_t>(visible, 1))};
}

std::string Reporter::suggest(std::string_view name, const std::vector<std::string>& candidates,
                              std::string otherwise) {
  // Any two names as short as `T` and `$x` are near each other.
  if (name.size() < 3 || suggestions_left_ == 0) return otherwise;
  --suggestions_left_;
  const std::string_view near = closest_name(name, candidates);
  return near.empty() ? otherwise : "did you mean " + in_quotes(near) + "?";
}

Diagnostics Reporter::take() {
  // The message that ends a cut list stays last.
  const auto by_place = [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
  };
  auto end = list_.end();
  if (full()) {
    const auto ending = std::ranges::find(list_, kTooMany, &Diagnostic::message);
    std::rotate(ending, ending + 1, list_.end());
    --end;
  }
  std::stable_sort(list_.begin(), end, by_place);
  return {std::move(list_)};
}

std::string_view Reporter::line(std::uint32_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  const std::size_t start = line_starts_[number - 1];
  const bool last = number == line_starts_.size();
  // The end is not searched for, because that would cost a long line its square when every token
  // asks.
  const std::size_t end = last ? text_.size() : line_starts_[number] - 1;
  std::string_view line = text_.substr(start, end - start);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string in_quotes(std::string_view name) { return "`" + cut(name, 80) + "`"; }

std::string place(Location at) { return std::to_string(at.line) + ":" + std::to_string(at.column); }

std::string listing(const std::vector<std::string>& names, std::string_view conjunction) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == kMost) return text + ", ...";
    const std::string glue = i + 1 == names.size() ? " " + std::string(conjunction) + " " : ", ";
    text += (i > 0 ? glue : "") + in_quotes(names[i]);
  }
  return text;
}

std::string declaration(const EventType& type) {
  return "`" + cut(declaration_of(type), 2000) + "`";
}

}  // namespace gorgo::language
