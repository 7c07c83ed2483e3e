#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/event.hpp"

/// Rule tests as text; docs/rule-tests.md describes the format.
namespace gorgo::tools {

struct TestEvent {
  Event event;
  bool tick = false;                   ///< only the time of `event` means something
  std::optional<std::string> refusal;  ///< part of the message that must refuse it
  std::uint32_t line = 0;
};

/// A message that the rules must give. `message` is a part of it.
struct TestDiagnostic {
  std::uint32_t line = 0, column = 0;  ///< in the section `rules`, both from 1
  Severity severity = Severity::error;
  std::string message;
};

struct TestCase {
  std::string name;
  std::uint32_t line = 0;  ///< of `case:` in the file
  std::string rules;
  std::vector<std::string> engines;  ///< empty: all
  std::optional<std::uint32_t> max_depth;
  std::optional<std::uint64_t> max_composites;
  std::optional<Duration> lateness, max_late;
  bool flush = false;  ///< the end of the events lets every deadline pass
  std::vector<TestEvent> events;
  std::vector<std::string> expected;  ///< in notation, as `notation_of` spells it
  std::uint32_t expected_line = 0;    ///< of `expect:`, or of `case:` without one
  std::vector<TestDiagnostic> diagnostics;
};

/// Errors begin with `PATH:LINE: `.
Result<std::vector<TestCase>> parse_test_file(const std::string& path, std::string_view text);

}  // namespace gorgo::tools
