#pragma once

#include <string>
#include <vector>

#include "gorgo/value.hpp"
#include "journal/records.hpp"
#include "language/language.hpp"

namespace gorgo::tools {

struct JournalExport {
  std::string folder;  ///< of the journal, which a server may have open
  std::string place;   ///< of the record that the test is about, or the id of an event
  std::string output;  ///< the file of the test
};

/// Writes the rules in force at a record of a journal, and the events around it that they can
/// reach, as a rule test which expects what the rules give for them. Returns the exit code.
int export_case(const JournalExport& wanted);

/// What rules give that the server of a journal may never have had.
struct BacktestCase {
  std::string folder;  ///< of the journal
  std::vector<language::Source> rules;
  journal::stored::SettingsT settings;  ///< that the server has
  Timestamp time = 0;                   ///< of the composite event
  std::string output;                   ///< the file of the test
};

/// Writes the rules, and the events that they can reach around that time, as a rule test which
/// expects what the rules give for them. Returns the exit code.
int export_case(const BacktestCase& wanted);

}  // namespace gorgo::tools
