#pragma once

#include <string>
#include <utility>
#include <vector>

#include "journal/recovery.hpp"
#include "journal/survey.hpp"

namespace gorgo::tools {

/// `journal::unreached_files` of a journal into which another process may write meanwhile.
inline Result<std::vector<std::string>> unreached_beside_writer(journal::Disk& disk,
                                                                const std::string& folder) {
  std::vector<std::string> before;
  while (true) {  // a file that is being begun may look unreached; one that is, is so the next time
    const auto found = journal::survey_beside_writer(disk, folder, journal::Depth::tail);
    if (!found) return found.error();
    auto files = journal::unreached_files(disk, *found);
    if (!files || files->empty() || *files == before) return files;
    before = *std::move(files);
  }
}

}  // namespace gorgo::tools
