#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/result.hpp"

namespace gorgo {

/// A position in a rule text. Lines and columns count from 1; columns count bytes.
struct Location {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  std::uint32_t length = 1;  ///< bytes to underline on this line, at least 1

  friend auto operator<=>(const Location&, const Location&) = default;
};

enum class Severity : std::uint8_t { error, warning };

/// One message about a rule text (language.md §10).
struct Diagnostic {
  Severity severity = Severity::error;
  std::string file;  ///< as the user gave it
  Location at;
  std::string message;      ///< what is wrong, and what was expected
  std::string hint;         ///< what to do next; may be empty
  std::string source_line;  ///< the text of line `at.line`, without its end; empty: too long
};

/// `FILE:LINE:COL: error: MESSAGE`, the source line with a caret below unless it is empty, and
/// `hint: ...`; ends with a newline.
std::string render(const Diagnostic& diagnostic);
/// One JSON object without a newline: severity, file, line, column, length, message, hint.
std::string render_json(const Diagnostic& diagnostic);

/// The messages about a text, in its order. "Failed" means at least one error; warnings do not
/// fail.
struct Diagnostics {
  std::vector<Diagnostic> list;

  bool failed() const;
  std::string render() const;
};

/// The candidate nearest to `name` by edit distance, when it is near enough to be a slip; else "".
std::string_view closest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace gorgo
