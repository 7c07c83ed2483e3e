#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace gorgo::tools {

/// What tells whether a file has changed.
struct FileStamp {
  std::filesystem::file_time_type written;
  std::uintmax_t size = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// The stamps of the paths that are files, and of the *.test and *.tesla files under those that are
/// folders.
std::map<std::string, FileStamp> stamps_of(const std::set<std::string>& paths);

}  // namespace gorgo::tools
