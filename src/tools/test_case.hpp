#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tools/test_coverage.hpp"
#include "tools/test_file.hpp"

namespace gorgo::tools {

/// A run that does not give what is expected.
struct CaseFailure {
  std::string message;  ///< whole lines, the first of which begins with `PATH:LINE: `
  /// The composites, when nothing before them was wrong.
  std::optional<std::vector<std::string>> composites;
  /// With composites: what the case expects, with attributes in the order of their types.
  std::vector<std::string> expected;
};

/// Runs a case under each engine that it allows, with the events in one batch, one by one and in
/// threes. Returns the first failure; nothing: the case passed. Once `stop` says so, nothing more
/// is evaluated, and what is returned means nothing.
std::optional<CaseFailure> run_case(const TestCase& test, const std::string& path,
                                    const std::vector<std::string>& engines,
                                    const std::stop_token& stop = {});

/// What the rules did at the times where composites are missing or too many: the funnels of `gorgo
/// why`, indented; empty when nothing can be said. Precondition: the failure has composites.
std::string explain_failure(const TestCase& test, const std::string& path,
                            const CaseFailure& failure);

/// Runs a case once more to see what it exercises of the rules.
void cover_case(const TestCase& test, const std::string& path, RuleCoverage& coverage);

}  // namespace gorgo::tools
