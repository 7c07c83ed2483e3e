#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gorgo/diagnostics.hpp"

namespace gorgo::server::http {

/// Which attributes of which types are not shown by HTTP (`http.redact`). Any thread.
class Redaction {
 public:
  /// What stands in the place of a value that is not shown.
  static constexpr std::string_view kHidden = "[redacted]";

  /// `patterns`: "Type.attribute", where `*` stands for any characters, also none. Where there are
  /// some, what dead letters hold is not shown either, because events are in it as they came.
  explicit Redaction(const std::vector<std::string>& patterns);

  bool is_empty() const { return patterns_.empty(); }
  bool hides(std::string_view type, std::string_view attribute) const;
  bool hides_something_of(std::string_view type) const;

 private:
  std::vector<std::pair<std::string, std::string>> patterns_;  // of types and attributes
};

/// The text of an event or a sequence, `Temp@1200 {area="A1", value=42.5}`, with none of its
/// values.
std::string without_values(std::string_view text);

/// The event line without the values that are not shown.
std::string without_hidden(const std::string& line, const Redaction& redaction);

/// An error: one of them is no "Type.attribute".
Result<void> check_redaction(const std::vector<std::string>& patterns);

}  // namespace gorgo::server::http
