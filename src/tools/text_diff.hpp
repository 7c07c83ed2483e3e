#pragma once

#include <string>
#include <vector>

namespace gorgo::tools {

/// What turns one list of lines into another: common lines behind "    ", lines of `expected` alone
/// behind "  - ", lines of `actual` alone behind "  + ". Long runs of common lines are cut.
std::string diff(const std::vector<std::string>& expected, const std::vector<std::string>& actual);

}  // namespace gorgo::tools
