#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/schema.hpp"
#include "language/language.hpp"

namespace gorgo::language {

/// Collects the diagnostics of one text, knows its lines, and bounds what hostile texts can make
/// it keep.
class Reporter {
 public:
  /// Errors beyond this number are replaced by one that says so; warnings are left out.
  static constexpr std::size_t kMaxDiagnostics = 100;

  /// `text` must outlive the reporter; it is empty for rules that were built without one.
  Reporter(std::string path, std::string_view text);
  /// `source` must outlive the reporter.
  explicit Reporter(const Source& source) : Reporter(source.path, source.text) {}

  void error(Location at, std::string message, std::string hint = {});
  void warning(Location at, std::string message, std::string hint = {});
  bool failed() const { return errors_ > 0; }
  std::size_t errors() const { return errors_; }
  /// True when no further error would be kept.
  bool full() const { return errors_ > kMaxDiagnostics; }

  /// The place of the byte at `offset`; `length` is cut at the end of its line.
  Location locate(std::size_t offset, std::size_t length) const;
  /// "did you mean `x`?" with the nearest candidate, or `otherwise` when none is near.
  std::string suggest(std::string_view name, const std::vector<std::string>& candidates,
                      std::string otherwise = {});

  /// The diagnostics so far, in the order of the text.
  Diagnostics take();

 private:
  void add(Severity severity, Location at, std::string message, std::string hint);
  std::string_view line(std::uint32_t number) const;

  std::string path_;
  std::string_view text_;
  std::vector<std::size_t> line_starts_;
  std::vector<Diagnostic> list_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
  int suggestions_left_ = 100;  // looking for near names costs time in proportion to the names
};

/// `name` between backquotes, as messages show names; cut when nobody would read it.
std::string in_quotes(std::string_view name);
/// "3:14"
std::string place(Location at);
/// "`a`, `b` or `c`"; cut when there are many.
std::string listing(const std::vector<std::string>& names, std::string_view conjunction);
/// The type's declaration between backquotes.
std::string declaration(const EventType& type);

}  // namespace gorgo::language
