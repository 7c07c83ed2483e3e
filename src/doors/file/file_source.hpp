#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "doors/door.hpp"
#include "doors/file/tailed_file.hpp"
#include "doors/payload.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors {

/// A file as a look at its folder has shown it.
struct FoundFile {
  using Time = std::pair<std::int64_t, std::uint32_t>;  // seconds, nanoseconds

  std::string path;
  FileIdentity identity;
  std::uint64_t size = 0;
  /// When it was written to last and, because clocks of file systems are coarse, when it was made.
  std::pair<Time, Time> written = {};
};

/// Files that a pattern names, read as they grow, also those that get a name or lose it while they
/// are written to.
class FileSource : public Source {
 public:
  FileSource(const Settings& settings, Types types, const Position& position);

  Result<Arrived> poll(std::chrono::milliseconds patience) override;
  /// The position tells all, and the server keeps it.
  void committed(const Position&) override {}
  void wake() override;
  std::string describe(const Position& position) const override;

 private:
  using Clock = std::chrono::steady_clock;

  const Settings settings_;
  const Types types_;
  std::map<FileIdentity, FilePosition> left_off_;  // files of an earlier run, not found yet
  std::vector<std::unique_ptr<TailedFile>> files_;
  std::size_t next_ = 0;  // the file that is read first
  Clock::time_point next_look_ = {};
  bool has_looked_ = false;
  std::map<std::string, Error> unopened_;  // files that could not be opened when they were found
  std::string told_;                       // the problem that the last poll has told

  std::mutex mutex_;  // guards what follows
  std::condition_variable woken_;
  bool is_woken_ = false;

  /// Finds files that came, and forgets those that have gone.
  Result<void> look();
  /// Reads from the files in turn, each to its end, until one gives something.
  void read(Arrived& arrived);
  bool read(TailedFile& file, Arrived& arrived);
  TailedFile::TakeLine taker(TailedFile& file, Arrived& arrived);
  static void take_header(TailedFile& file, std::string_view line, Arrived& arrived);
  /// What is wrong with some files, while others are read.
  std::optional<Error> problem() const;
  /// Notes the problem. Returns whether it is another than the poll before has told.
  bool tell_problem(Arrived& arrived);
  /// False: another file has the name by now.
  bool find(const std::string& path, const FileIdentity& identity);
  void find_renamed(const std::vector<FoundFile>& found);
  void forget_gone(Arrived& arrived);
  Position position();
  void wait(Clock::time_point until);
};

}  // namespace gorgo::doors
