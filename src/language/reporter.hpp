#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "language/language.hpp"

namespace gorgo::language {

/// Collects the diagnostics of one source and fills in its file name and lines.
class Reporter {
 public:
  /// `source` must outlive the reporter.
  explicit Reporter(const Source& source) : source_(source) {}

  void error(Location at, std::string message, std::string hint = "");
  void warning(Location at, std::string message, std::string hint = "");
  bool failed() const { return failed_; }

  /// "did you mean `x`?" with the nearest candidate, or `otherwise` when none is near.
  std::string suggest(std::string_view name, const std::vector<std::string>& candidates,
                      std::string otherwise = "");

  /// In the order of the text.
  Diagnostics take();

 private:
  void add(Severity severity, Location at, std::string message, std::string hint);
  std::string line_of(Location at);

  const Source& source_;
  std::vector<std::size_t> line_starts_;  // filled when the first diagnostic comes
  std::vector<Diagnostic> list_;
  bool failed_ = false;
  int suggestions_left_ = 100;  // looking for near names costs time in proportion to the names
};

/// `name` between backquotes, as messages show names.
std::string in_quotes(std::string_view name);
/// "3:14"
std::string place(Location at);
/// "`a`, `b` or `c`"
std::string listing(const std::vector<std::string>& names, std::string_view conjunction);

}  // namespace gorgo::language
