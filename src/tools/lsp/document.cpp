#include "tools/lsp/document.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>

namespace gorgo::tools::lsp {
namespace {

constexpr std::string_view kScheme = "file://";

/// A character of a text.
struct Character {
  std::size_t bytes = 1;
  std::size_t units = 1;  ///< of UTF-16
};

Character character_at(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (bytes > text.size()) return {};
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return {};
  }
  return {bytes, bytes == 4 ? std::size_t{2} : 1};
}

}  // namespace

Document::Document(std::string text) : text_(std::move(text)) {
  for (std::size_t at = text_.find('\n'); at != text_.npos; at = text_.find('\n', at + 1)) {
    line_starts_.push_back(at + 1);
  }
}

std::size_t Document::line_end(std::size_t line) const {
  const bool last = line + 1 == line_starts_.size();
  std::size_t end = last ? text_.size() : line_starts_[line + 1] - 1;
  if (!last && end > line_starts_[line] && text_[end - 1] == '\r') --end;
  return end;
}

Range Document::range(Location at) const {
  const std::size_t begin = offset(at);
  const std::size_t end = std::min<std::size_t>(begin + at.length, text_.size());
  return {position(begin), position(end)};
}

Range Document::whole() const { return {{0, 0}, position(text_.size())}; }

std::size_t Document::offset(Location at) const {
  if (at.line > line_starts_.size()) return text_.size();
  return std::min<std::size_t>(line_starts_[at.line - 1] + at.column - 1, text_.size());
}

std::size_t Document::offset(Position position) const {
  if (position.line >= line_starts_.size()) return text_.size();
  std::size_t at = line_starts_[position.line];
  const std::size_t end = line_end(position.line);
  std::size_t units = 0;
  while (at < end) {
    const Character next = character_at(std::string_view(text_).substr(at, end - at));
    units += next.units;
    if (units > position.character) break;
    at += next.bytes;
  }
  return at;
}

Position Document::position(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  std::size_t at = *(next - 1);
  Position result{static_cast<std::size_t>(next - line_starts_.begin()) - 1, 0};
  while (at < offset) {
    const Character character = character_at(std::string_view(text_).substr(at));
    at += character.bytes;
    result.character += character.units;
  }
  return result;
}

std::string path_of(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return std::string(uri);
  std::string path;
  for (std::size_t i = uri.find('/', kScheme.size()); i < uri.size(); ++i) {
    unsigned code = 0;
    const char* const digits = uri.data() + i + 1;
    const bool escape = uri[i] == '%' && i + 2 < uri.size() &&
                        std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2;
    path += escape ? static_cast<char>(code) : uri[i];
    if (escape) i += 2;
  }
  return path;
}

std::string uri_of(const std::string& path) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string uri(kScheme);
  for (const char c : std::filesystem::absolute(path).lexically_normal().string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("/-._~").find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return uri;
}

}  // namespace gorgo::tools::lsp
