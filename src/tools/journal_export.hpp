#pragma once

#include <string>

namespace gorgo::tools {

struct JournalExport {
  std::string folder;  ///< of the journal, which a server may have open
  std::string place;   ///< of the record that the test is about, or the id of an event
  std::string output;  ///< the file of the test
};

/// Writes the rules in force at a record of a journal, and the events around it that they can
/// reach, as a rule test which expects what the rules give for them. Returns the exit code.
int export_case(const JournalExport& wanted);

}  // namespace gorgo::tools
