#pragma once

#include <string>
#include <vector>

namespace gorgo::tools {

/// What stands out about a journal.
struct JournalFindings {
  std::vector<std::string> sentences;  ///< what is the case, and what to do
  bool can_start = true;               ///< whether a server can start with it
};

/// Reads all of the journal in a folder and changes nothing. A server may have it open.
JournalFindings findings_about_journal(const std::string& folder);

}  // namespace gorgo::tools
