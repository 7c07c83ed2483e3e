#pragma once

#include <map>
#include <string>
#include <vector>

#include "gorgo/processor.hpp"

namespace gorgo::server {

/// The rule files that the server was started with, deployed and kept in step with the disk.
/// Belongs to the thread that owns the processor.
class RuleFiles {
 public:
  /// Files, and directories whose *.tesla files count (sorted by name, not recursive).
  explicit RuleFiles(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  struct Outcome {
    Diagnostics diagnostics;    ///< of all files
    std::vector<Error> errors;  ///< what could not be read or removed
    std::size_t files = 0;      ///< deployed
    std::size_t removed = 0;    ///< rules that are in no file any more

    bool failed() const { return diagnostics.failed() || !errors.empty(); }
  };

  /// Deploys every file as it is now: new rules are added, known ones replaced, and rules that
  /// have gone from their file are removed. A file with errors leaves its old rules as they are.
  Outcome load(Processor& processor);

 private:
  std::vector<std::string> paths_;
  std::map<std::string, std::vector<std::string>> deployed_;  // file -> its rules' full names

  std::vector<std::string> files(Outcome& outcome) const;
  void load_file(Processor& processor, const std::string& file, Outcome& outcome);
  void remove_rules(Processor& processor, const std::vector<std::string>& rules,
                    const std::vector<std::string>& except, Outcome& outcome);
};

}  // namespace gorgo::server
