#pragma once

#include <deque>
#include <exception>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "gorgo/processor.hpp"
#include "server/actions/action_board.hpp"
#include "server/durability/known_files.hpp"
#include "server/rules/rule_book.hpp"

namespace gorgo::server {

/// The rule files that the server was started with, deployed and kept in step with the disk. Used
/// by one thread at a time.
class RuleFiles {
 public:
  /// `paths`: files, and folders whose *.tesla files count, sorted by name. Folders within them do
  /// not count, nor do files whose names begin with a dot. `executable`: what rules may execute;
  /// null: anything.
  explicit RuleFiles(const std::vector<std::string>& paths,
                     const ActionBoard* executable = nullptr);

  struct Outcome {
    Diagnostics diagnostics;         ///< of all files
    std::vector<Error> errors;       ///< what could not be read, deployed or removed
    std::vector<std::string> gone;   ///< files that left their folder, and whose rules are removed
    std::size_t files = 0;           ///< in force as they are now
    std::vector<std::string> added;  ///< rules that no file had before
    std::vector<std::string> removed;  ///< rules that were removed because no file has them

    bool failed() const { return diagnostics.failed() || !errors.empty(); }
  };

  /// Deploys every file whose rules are not in force as it has them: new rules are added, known
  /// ones replaced, and rules that have gone from their file are removed. Rules of all other files
  /// keep their state. Whatever is wrong becomes an error or a diagnostic:
  ///
  /// * A file with errors leaves its old rules as they are.
  /// * A path of which anything cannot be read stays as it was deployed. So does a folder that had
  ///   rule files and is without any: it is more likely away than emptied.
  /// * A file that has left its folder takes its rules along, once all other files of the folder
  ///   are without errors.
  Outcome load(RuleBook& book);

  /// Does what `load` does in steps, so that whoever owns the processor need not wait while files
  /// are read and checked: call `begin`, then `check_next` and `put_in_force` in turns, until
  /// `check_next` is false. `in_force`: the rule files as the rule book knows them.
  void begin(const KnownFiles& in_force);
  /// Has the next loads look at these paths. Rules of files that belonged to paths which are none
  /// any more are removed by the next load in which nothing is wrong. To be called before `begin`.
  void set_paths(const std::vector<std::string>& paths);
  /// Reads all files, if that was not done, and checks the next one, unless rules are to be removed
  /// first; false: nothing is left to do. Needs no processor, so that another thread may do it.
  bool check_next(const RuleSnapshot& snapshot);
  /// The rules that were checked; null: there are none.
  const PreparedRules& checked() const { return prepared_; }
  /// Puts the checked rules in force, or removes some of the rules that are to be removed, of which
  /// there may be many. Precondition: `book.processor().pending() == 0`.
  void put_in_force(RuleBook& book);
  /// Takes over files whose rules are in force already. To be called before the first load.
  void adopt(const KnownFiles& files);
  /// What became of the load that is over.
  const Outcome& outcome() const { return outcome_; }

 private:
  using Rules = std::vector<std::string>;  // full names

  struct File {
    std::string name;
    std::string text;
  };
  using Files = std::map<std::string, Rules>;  // by name
  struct Path {
    std::string path;
    Files deployed;
  };
  /// The files of a path that are to be deployed.
  struct Reading {
    Path* path;
    std::deque<File> files;  // the first is the next one; never empty
    Files gone;              // deployed files that are not there
    bool good = true;        // no file had an error
  };

  const ActionBoard* const executable_;
  std::vector<Path> paths_;
  Files retired_;  // their paths are none any more
  std::unordered_map<std::string, std::size_t>
      holders_;  // by rule: how many deployed files have it

  // The members below are about the load in hand.
  bool is_read_ = false;
  std::map<std::string, std::string> in_force_;  // texts that are in force as they are, by file
  std::deque<Reading> readings_;
  PreparedRules prepared_;  // of the first file
  Rules leaving_;           // to be removed before the next file
  Outcome outcome_;

  static Result<std::deque<File>> read(const Path& path);
  void read_all();
  void leave_retired_files();
  void check(Reading& reading, const RuleSnapshot& snapshot);
  /// Whether the rules of the file are in force as the file has them.
  bool is_in_force(const Path& path, const File& file) const;
  void deploy_file(RuleBook& book, Reading& reading);
  void replace(const Rules& before, const Rules& now);
  void remove_some(RuleBook& book);
  void give_up_path(const std::exception& failure);
};

}  // namespace gorgo::server
