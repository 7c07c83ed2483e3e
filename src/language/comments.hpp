#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gorgo::language {

struct Comment {
  std::string text;              ///< with its `//`, `#` or `/*`; lines end with \n
  std::size_t lines_before = 0;  ///< line ends between it and what stands before it

  bool own_line() const { return lines_before > 0; }
  /// Whether what follows begins on a new line.
  bool ends_line() const;
};

/// What stands between two tokens: white space and comments.
struct Gap {
  std::vector<Comment> comments;
  std::size_t lines_after = 0;  ///< line ends behind the last comment
};

/// Reads what stands between two tokens. Precondition: `text` holds nothing but white space,
/// comments, `;` and byte order marks.
Gap read_gap(std::string_view text);

}  // namespace gorgo::language
