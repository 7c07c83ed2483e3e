#pragma once

#include <string>
#include <vector>

namespace gorgo::tools {

/// A line that stays (' '), goes ('-') or comes ('+').
struct Edit {
  char mark;
  const std::string* line;
};

/// What turns one list of lines into another, with as few changes as can be found. The result
/// refers to both lists.
std::vector<Edit> edits_between(const std::vector<std::string>& expected,
                                const std::vector<std::string>& actual);

/// What turns one list of lines into another: common lines behind "    ", lines of `expected` alone
/// behind "  - ", lines of `actual` alone behind "  + ". Long runs of common lines are cut.
std::string diff(const std::vector<std::string>& expected, const std::vector<std::string>& actual);

}  // namespace gorgo::tools
