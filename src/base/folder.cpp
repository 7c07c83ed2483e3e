#include "base/folder.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace gorgo {
namespace {

namespace fs = std::filesystem;

template <class Iterator>
Result<std::vector<std::string>> list(const std::string& folder, std::string_view extension) {
  std::vector<std::string> files;
  std::error_code failure;
  for (Iterator it(folder, failure), end; !failure && it != end; it.increment(failure)) {
    const fs::path& file = it->path();
    const bool hidden = file.filename().native().starts_with('.');
    if (file.extension() == extension && !hidden) files.push_back(file.string());
  }
  if (failure) return Error{"cannot list " + folder + ": " + failure.message(), ""};
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<std::vector<std::string>> files_in(const std::string& folder, std::string_view extension,
                                          FolderDepth depth) {
  if (depth == FolderDepth::itself) return list<fs::directory_iterator>(folder, extension);
  return list<fs::recursive_directory_iterator>(folder, extension);
}

}  // namespace gorgo
