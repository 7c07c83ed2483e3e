#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gorgo::house {

/// Checks the #include lines of one file against the order of the rooms. `path` is relative to the
/// repository (`src/ROOM/...` or `include/gorgo/...`). Returns `PATH:LINE: what is wrong`.
std::vector<std::string> check_includes(std::string_view path, std::string_view text);

}  // namespace gorgo::house
