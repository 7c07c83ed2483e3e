#pragma once

#include <string>
#include <vector>

namespace gorgo::language {

/// What stands before the brackets of an action.
inline const std::vector<std::string>& action_kinds() {
  static const std::vector<std::string> all = {"webhook", "mail", "publish", "command", "file"};
  return all;
}

}  // namespace gorgo::language
