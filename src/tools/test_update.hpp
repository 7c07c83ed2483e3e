#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/test_file.hpp"

namespace gorgo::tools {

/// What the expectation of a case is to become.
struct TestUpdate {
  const TestCase* test;
  std::vector<std::string> before;  ///< what it expects, one for each of its lines; see CaseFailure
  std::vector<std::string> expected;
};

/// The text of a test file with other expectations. Lines that stay are not touched, so that their
/// comments stay, too. Precondition: every case has a section `expect:`.
std::string with_expectations(std::string_view text, std::span<const TestUpdate> updates);

}  // namespace gorgo::tools
