#include "language/reporter.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::language {

void Reporter::error(Location at, std::string message, std::string hint) {
  failed_ = true;
  add(Severity::error, at, std::move(message), std::move(hint));
}

void Reporter::warning(Location at, std::string message, std::string hint) {
  add(Severity::warning, at, std::move(message), std::move(hint));
}

std::string Reporter::suggest(std::string_view name, const std::vector<std::string>& candidates,
                              std::string otherwise) {
  // Of names as short as `T` and `$x` any two are near.
  if (name.size() < 3 || suggestions_left_ == 0) return otherwise;
  --suggestions_left_;
  const std::string_view near = closest_name(name, candidates);
  return near.empty() ? otherwise : "did you mean " + in_quotes(near) + "?";
}

Diagnostics Reporter::take() {
  std::stable_sort(list_.begin(), list_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
  });
  return {std::move(list_)};
}

void Reporter::add(Severity severity, Location at, std::string message, std::string hint) {
  list_.push_back({severity, source_.path, at, std::move(message), std::move(hint), line_of(at)});
}

std::string Reporter::line_of(Location at) {
  const std::string& text = source_.text;
  if (line_starts_.empty()) {
    line_starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') line_starts_.push_back(i + 1);
    }
  }
  if (at.line == 0 || at.line > line_starts_.size()) return "";
  const std::size_t begin = line_starts_[at.line - 1];
  std::size_t end = text.find('\n', begin);
  if (end == std::string::npos) end = text.size();
  if (end > begin && text[end - 1] == '\r') --end;
  return text.substr(begin, end - begin);
}

std::string in_quotes(std::string_view name) { return "`" + std::string(name) + "`"; }

std::string place(Location at) { return std::to_string(at.line) + ":" + std::to_string(at.column); }

std::string listing(const std::vector<std::string>& names, std::string_view conjunction) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " " + std::string(conjunction) + " " : ", ";
    text += in_quotes(names[i]);
  }
  return text;
}

}  // namespace gorgo::language
