#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"

namespace gorgo::language {

/// Collects the diagnostics of one text and knows its lines.
class SyntaxReporter {
 public:
  /// Messages beyond this number are replaced by one that says so.
  static constexpr std::size_t kMaxDiagnostics = 100;

  /// `text` must outlive the reporter.
  SyntaxReporter(std::string path, std::string_view text);

  void error(Location at, std::string message, std::string hint = {});
  /// The place of the byte at `offset`; `length` is cut at the end of its line.
  Location locate(std::size_t offset, std::size_t length) const;

  /// True when no further message would be kept.
  bool full() const { return list_.size() > kMaxDiagnostics; }
  std::size_t errors() const { return list_.size(); }
  /// The diagnostics so far, in the order of the text.
  Diagnostics take();

 private:
  std::string_view line(std::uint32_t number) const;

  std::string path_;
  std::string_view text_;
  std::vector<std::size_t> line_starts_;
  std::vector<Diagnostic> list_;
};

}  // namespace gorgo::language
