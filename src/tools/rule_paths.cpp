#include "tools/rule_paths.hpp"

#include <filesystem>
#include <iterator>
#include <set>

#include "base/folder.hpp"

namespace gorgo::tools {
namespace {

namespace fs = std::filesystem;

/// Removes what stands for the same file as something before it.
void remove_repeated(std::vector<std::string>& files) {
  std::set<fs::path> seen;
  std::erase_if(files, [&](const std::string& file) {
    std::error_code not_there;  // then it is compared as it is written
    const fs::path canonical = fs::weakly_canonical(file, not_there);
    return !seen.insert(not_there ? fs::path(file) : canonical).second;
  });
}

}  // namespace

Result<std::vector<std::string>> rule_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code not_there;  // reading says why
    if (!fs::is_directory(path, not_there)) {
      files.push_back(path);
      continue;
    }
    auto listed = files_in(path, ".tesla");
    if (!listed) return listed.error();
    if (listed->empty()) return Error{"there is no *.tesla file in " + path, ""};
    files.insert(files.end(), std::move_iterator(listed->begin()),
                 std::move_iterator(listed->end()));
  }
  remove_repeated(files);
  return files;
}

}  // namespace gorgo::tools
