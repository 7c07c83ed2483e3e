#include "tools/file_stamps.hpp"

namespace gorgo::tools {
namespace {

namespace fs = std::filesystem;
using Stamps = std::map<std::string, FileStamp>;

/// A file may go while it is looked at: then it is not there.
void add_file(const fs::path& path, Stamps& stamps) {
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  if (error) return;
  const auto size = fs::file_size(path, error);
  if (!error) stamps[path.string()] = {written, size};
}

void add_folder(const fs::path& path, Stamps& stamps) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    const auto extension = it->path().extension();
    if (extension == ".test" || extension == ".tesla") add_file(it->path(), stamps);
  }
}

}  // namespace

std::map<std::string, FileStamp> stamps_of(const std::set<std::string>& paths) {
  Stamps stamps;
  for (const auto& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      add_folder(path, stamps);
    } else {
      add_file(path, stamps);
    }
  }
  return stamps;
}

}  // namespace gorgo::tools
