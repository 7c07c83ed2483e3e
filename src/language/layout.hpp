#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "language/comments.hpp"

/// From words to lines: where a formatted text is broken and indented.
namespace gorgo::language {

/// The column at which the content of `define`, `from`, `where` and `consuming` begins.
inline constexpr std::size_t kContentColumn = 10;

/// A word or sign as it is printed, and how it joins the one before it.
struct Piece {
  enum class Glue : std::uint8_t {
    tight,
    space,
    content,  ///< at `kContentColumn`
    line,     ///< on a new line at column `indent`
  };
  static constexpr int kUnbreakable = 1 << 30;

  std::string text;
  Glue glue = Glue::space;
  std::size_t indent = 0;
  /// Glue::line: where the line goes on when it is broken outside brackets.
  std::size_t continuation = 0;
  /// A line that is too long is broken before the piece of the lowest rank.
  int rank = kUnbreakable;
  std::vector<Comment> before;  ///< on lines of their own
  std::vector<Comment> after;   ///< on the same line
};

/// A line of a formatted text. Comments at the ends of successive lines are aligned.
struct Line {
  std::string code;
  std::string comment;  ///< at the end of the line
};

/// Appends the lines of `pieces`. Precondition: the first has `Glue::line`.
void lay_out(const std::vector<Piece>& pieces, std::vector<Line>& lines);
/// Appends a comment that stands alone, at `column`.
void lay_out(const Comment& comment, std::size_t column, std::vector<Line>& lines);
std::string to_text(const std::vector<Line>& lines);

}  // namespace gorgo::language
