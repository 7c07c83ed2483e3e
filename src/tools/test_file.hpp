#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/value.hpp"
#include "tools/test_step.hpp"

/// Rule tests as text; docs/rule-tests.md describes the format.
namespace gorgo::tools {

/// A message that the rules must give. `message` is a part of it.
struct TestDiagnostic {
  std::uint32_t line = 0, column = 0;  ///< in the section `rules`, both from 1
  Severity severity = Severity::error;
  std::string message;
};

/// What a counter must show in the end.
struct TestCount {
  std::string name;
  std::uint64_t value = 0;
  std::uint32_t line = 0;
};

struct TestCase {
  std::string name;
  std::uint32_t line = 0;  ///< of `case:` in the file
  std::string rules;
  std::string rules_path;            ///< of the file that they stand in; empty: the test itself
  std::vector<std::string> engines;  ///< empty: all
  std::optional<std::uint32_t> max_depth;
  std::optional<std::uint64_t> max_composites, max_instants;
  std::optional<Duration> lateness, max_late, max_ahead;
  std::vector<std::string> subscriptions;  ///< empty: all composites are expected
  std::vector<TestStep> steps;
  std::vector<std::string> expected;          ///< in notation, as `notation_of` spells it
  std::vector<std::uint32_t> expected_lines;  ///< where they stand
  std::uint32_t expected_line = 0;            ///< of `expect:`, or of `case:` without one
  bool expects = false;                       ///< whether there is a section `expect:`
  /// All diagnostics that the rules give; unset: they give no errors, and warnings do not count.
  std::optional<std::vector<TestDiagnostic>> diagnostics;
  std::vector<TestCount> counts;
};

/// Gives the text of a rule file that a case names.
using ReadRules = std::function<Result<std::string>(const std::string& path)>;

/// Also reads the rule files that cases name, relative to the folder of `path`, by `read`; unset:
/// from the disk. Errors begin with `PATH:LINE: `.
Result<std::vector<TestCase>> parse_test_file(const std::string& path, std::string_view text,
                                              ReadRules read = {});

}  // namespace gorgo::tools
