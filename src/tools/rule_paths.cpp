#include "tools/rule_paths.hpp"

#include <filesystem>
#include <iterator>

#include "base/folder.hpp"

namespace gorgo::tools {

Result<std::vector<std::string>> rule_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code not_there;  // reading says why
    if (!std::filesystem::is_directory(path, not_there)) {
      files.push_back(path);
      continue;
    }
    auto listed = files_in(path, ".tesla");
    if (!listed) return listed.error();
    if (listed->empty()) return Error{"there is no *.tesla file in " + path, ""};
    files.insert(files.end(), std::move_iterator(listed->begin()),
                 std::move_iterator(listed->end()));
  }
  return files;
}

}  // namespace gorgo::tools
