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
  /// Files, and folders whose *.tesla files count: sorted by name, not recursive, without those
  /// whose name begins with a dot.
  explicit RuleFiles(const std::vector<std::string>& paths);

  struct Outcome {
    Diagnostics diagnostics;        ///< of all files
    std::vector<Error> errors;      ///< what could not be read, deployed or removed
    std::vector<std::string> gone;  ///< files that left their folder, and whose rules are removed
    std::size_t files = 0;          ///< deployed
    std::size_t removed = 0;        ///< rules that are in no file any more

    bool failed() const { return diagnostics.failed() || !errors.empty(); }
  };

  /// Deploys every file as it is now: new rules are added, known ones replaced, and rules that
  /// have gone from their file are removed. Whatever is wrong becomes an error or a diagnostic:
  ///
  /// * A file with errors leaves its old rules as they are.
  /// * A path of which anything cannot be read stays as it was deployed. So does a folder that had
  ///   rule files and has none any more: it is more likely away than emptied.
  /// * A file that has left its folder takes its rules along, once all other files of the folder
  ///   are without errors.
  ///
  /// Never throws.
  Outcome load(Processor& processor);

 private:
  using Rules = std::vector<std::string>;  // full names

  struct File {
    std::string name;
    std::string text;
  };
  struct Path {
    std::string path;
    std::map<std::string, Rules> deployed;  // by file
  };

  std::vector<Path> paths_;

  static Result<std::vector<File>> read(const Path& path);
  bool is_deployed_elsewhere(const std::string& rule, const std::string& file) const;
  void load(Processor& processor, Path& path, Outcome& outcome);
  bool deploy(Processor& processor, Path& path, const File& file, bool replace, Outcome& outcome);
  void remove(Processor& processor, const std::string& file, const Rules& before, const Rules& now,
              Outcome& outcome);
};

}  // namespace gorgo::server
