#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"

namespace gorgo::tools::lsp {

/// A place as LSP counts: lines from 0, UTF-16 code units of the line from 0.
struct Position {
  std::size_t line = 0;
  std::size_t character = 0;

  friend auto operator<=>(const Position&, const Position&) = default;
};

struct Range {
  Position start, end;
};

/// A text, its lines, and the two ways to count in it. Bytes that are no UTF-8 count as one unit
/// each.
class Document {
 public:
  explicit Document(std::string text);

  const std::string& text() const { return text_; }
  /// What the location underlines. Locations behind the text stand for its end.
  Range range(Location at) const;
  Range whole() const;
  /// Positions behind a line stand for its end, those behind the text for the text's end.
  std::size_t offset(Position position) const;
  std::size_t offset(Location at) const;
  Position position(std::size_t offset) const;

 private:
  std::size_t line_end(std::size_t line) const;

  std::string text_;
  std::vector<std::size_t> line_starts_{0};
};

/// The path that a file URI names, else the URI itself.
std::string path_of(std::string_view uri);
/// The file URI of a path.
std::string uri_of(const std::string& path);

}  // namespace gorgo::tools::lsp
