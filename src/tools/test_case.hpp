#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/test_file.hpp"

namespace gorgo::tools {

/// Runs a case under each engine that it allows, with the events in one batch and one by one.
/// The first run that does not give what is expected: what it gave, as text of whole lines that
/// begins with `PATH:LINE: `. Nothing: the case passed.
std::optional<std::string> run_case(const TestCase& test, const std::string& path,
                                    const std::vector<std::string>& engines);

}  // namespace gorgo::tools
