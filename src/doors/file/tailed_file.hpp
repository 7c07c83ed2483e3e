#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "codec/lines.hpp"
#include "doors/payload.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::doors {

/// Which file it is, whatever it is called.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

/// How far a file was read. The hash of its first bytes tells whether it is still what it was: a
/// file may be emptied and written again, and its number be given to another.
struct FilePosition {
  FileIdentity identity;
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t head = 0;  ///< hash of the first `head_bytes` bytes
  std::uint64_t head_bytes = 0;
};

/// One file that is read as it grows. One thread.
class TailedFile {
 public:
  /// Takes a line, without its end, that begins at the offset. Returns what it was. At the end of
  /// a record the file is read so far.
  using TakeLine =
      std::function<PayloadReader::Outcome(std::string_view line, std::uint64_t offset)>;
  enum class Read : std::uint8_t { more, end };

  /// Opens the file where it was left off; from `position.offset` on, if it is what it was, else
  /// from its beginning.
  static Result<std::unique_ptr<TailedFile>> open(const FilePosition& position,
                                                  std::unique_ptr<PayloadReader> reader);
  ~TailedFile();
  TailedFile(const TailedFile&) = delete;
  TailedFile& operator=(const TailedFile&) = delete;

  /// Reads lines until `is_full` or there are no more for now.
  Result<Read> read(const TakeLine& take, const std::function<bool()>& is_full);
  /// Takes what stands behind the last line end, if anything does: nobody will write more.
  void take_rest(const TakeLine& take);

  const FilePosition& position();
  PayloadReader& reader() { return *reader_; }
  void set_path(const std::string& path) { position_.path = path; }
  /// When it was not found any more under a name that is watched; unset: it is there.
  std::optional<std::chrono::steady_clock::time_point> gone_since = {};
  /// Why no line of the file can be read; unset: its header was taken, or there is none.
  std::optional<Error> refused_header = {};
  /// Why it could not be read when that was last tried.
  std::optional<Error> failure = {};

 private:
  using Clock = std::chrono::steady_clock;
  struct Look {
    std::uint64_t size = 0;
    std::pair<std::int64_t, std::int64_t> changed = {};  // seconds, nanoseconds
  };

  TailedFile(int file, FilePosition position, std::unique_ptr<PayloadReader> reader)
      : file_(file), position_(std::move(position)), reader_(std::move(reader)) {}

  const int file_;
  FilePosition position_;  // `offset`: of the first record that was not taken
  std::unique_ptr<PayloadReader> reader_;
  codec::LineCutter lines_;
  std::string head_;  // the first bytes as they were read, by which it is known again
  decltype(Look::changed) changed_ = {};
  Clock::time_point settled_ = {};  // from then on what is written leaves another time of change
  Clock::time_point compared_ = {};
  std::uint64_t filled_ = 0;     // where the bytes end that the cutter was given
  std::uint64_t next_line_ = 0;  // where the next line begins
  bool skips_ = false;           // the rest of a line that is too long

  Result<void> begin(std::uint64_t offset);
  Result<Look> look() const;
  /// Whether it is the file that was left off.
  bool is_known() const;
  /// Whether its bytes are others than those that were read.
  bool is_replaced(const Look& look);
  Result<bool> fill();
  void take_line(std::string_view line, const TakeLine& take);
};

}  // namespace gorgo::doors
