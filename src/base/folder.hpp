#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"

namespace gorgo {

enum class FolderDepth { itself, with_folders };

/// The paths of the files in a folder that end with `extension`, such as ".tesla", sorted. Hidden
/// files are left out. An error: the folder cannot be read.
Result<std::vector<std::string>> files_in(const std::string& folder, std::string_view extension,
                                          FolderDepth depth = FolderDepth::itself);

}  // namespace gorgo
