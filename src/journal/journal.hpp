#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "journal/disk.hpp"
#include "journal/format.hpp"
#include "journal/reader.hpp"
#include "journal/record_maker.hpp"
#include "journal/survey.hpp"

namespace gorgo::journal {

std::int64_t now();  ///< nanoseconds since the Unix epoch

struct Options {
  std::uint64_t segment_bytes = std::uint64_t{64} << 20;
  /// Records are gathered up to so many bytes. Writing as many costs little beside copying them.
  std::size_t gather_bytes = std::size_t{256} << 10;
  std::int64_t (*clock)() = now;
  std::uint64_t number = 0;  ///< of a new journal; 0: a random one
};

/// What opening a journal has found and done.
struct Recovery {
  Place low = 1;                 ///< the first place that can be read
  Place end = 1;                 ///< of the next record; all before it are durable
  std::uint64_t torn_bytes = 0;  ///< cut off behind the last record; they were never durable
  std::string torn_in;           ///< the file with the first of them

  /// For the log; empty: nothing was cut off.
  std::string to_string() const;
};

/// A journal on a disk: records in one order, which begins at `low` and ends before `end`. Every
/// function may be called from any thread. One that writes or syncs and fails on the disk ends the
/// journal for good, and returns its error from then on; running out of room is an exception, if
/// nothing was written of the record: it can be appended again.
class Journal {
 public:
  /// Opens the journal in this folder, or a new one there. What a crash has left behind the last
  /// record is cut off. Damage is an error, and so is another process that has it open. `disk`
  /// outlives the journal.
  static Result<std::unique_ptr<Journal>> open(Disk& disk, const std::string& folder,
                                               const Options& options = {});

  const Recovery& recovery() const { return recovery_; }
  Disk& disk() const { return disk_; }
  const std::string& folder() const { return folder_; }
  std::uint64_t number() const { return number_; }  ///< tells it from other journals

  /// Has the disk set room aside for what is appended before the next call: a record whose payload
  /// has at most so many bytes, or several that take as much together. A trim meanwhile keeps that
  /// room. Where there is none, nothing has changed.
  Result<void> make_room(std::uint64_t length);

  /// Appends a record whose payload is `parts` end to end, at most 4 GiB - 256. `kind` is at least
  /// kFirstKind. Returns its place, which is durable once `durable()` is above it. Small records
  /// are gathered, because each call of the system costs much more than they do: the end of the
  /// process loses those that `write` has not written.
  Result<Place> append(std::uint16_t kind, std::span<const Bytes> parts);

  /// Hands everything that was appended to the system, where the end of the process does not lose
  /// it.
  Result<void> write();

  /// Makes everything durable that was appended before the call, and returns `durable()`. Records
  /// may be appended meanwhile.
  Result<Place> sync();

  Place low() const;                      ///< the first place that can be read
  Place durable() const;                  ///< places below this one are durable
  Place written() const;                  ///< places below this one are with the system
  Place end() const;                      ///< of the next record
  std::vector<Segment> segments() const;  ///< those that trimming has left, in order
  std::optional<Error> failure() const;

  /// Readers see what is written.
  View view() const;
  /// The records from `from` to the last one that is written. An error: `from` was trimmed.
  Result<Reader> read(Place from) const;

  /// Removes the files all of whose records stand below `place`, once it is durable that they are
  /// not needed.
  Result<void> trim(Place place);

  /// Makes everything durable and says so in the journal, so that whatever is damaged afterwards is
  /// told apart from what a crash may leave. Nothing is appended afterwards.
  Result<void> close();

 private:
  struct Tail {
    std::shared_ptr<File> file;  ///< null: the next record begins a segment
    std::uint32_t seed = 0;
    std::uint64_t offset = 0;  ///< behind the last record, gathered or written
    std::uint64_t size = 0;
    bool synced = false;
  };
  /// A segment behind which another one has begun, and which is neither cut nor synced since.
  struct Full {
    std::shared_ptr<File> file;
    std::uint64_t size = 0;

    Result<void> finish() const;
  };

  Journal(Disk& disk, std::string folder, const Options& options);

  Result<void> recover();
  Result<Place> append_locked(std::uint16_t kind, std::span<const Bytes> parts);
  /// Puts a record behind the last one.
  Result<void> put(std::span<const Bytes> record);
  Result<void> write_locked();
  /// Has the last segment hold a record of so many bytes, or begins another one.
  Result<void> provide(std::uint64_t record);
  /// A segment of so many bytes, or of more where the record needs them. Where it fails, the last
  /// segment has its room still.
  Result<void> begin_segment(std::uint64_t record, std::uint64_t bytes);
  Result<std::shared_ptr<File>> make_segment(const std::string& path, const SegmentHeader& header,
                                             std::uint64_t size);
  Result<void> remove_leftover();
  Result<void> forget_segment();
  Result<void> close_segment();
  Result<void> write_mark();
  Place low_for(Place place) const;
  Result<void> write_low(Place low);
  Error fail(const Error& error);

  Disk& disk_;
  const std::string folder_;
  const Options options_;
  std::unique_ptr<Lock> lock_;
  Recovery recovery_;

  std::mutex trim_mutex_;  ///< one trim at a time
  std::mutex sync_mutex_;  ///< one sync at a time
  mutable std::mutex mutex_;
  std::uint64_t number_ = 0;
  std::vector<Segment> segments_;
  std::vector<Full> full_;  ///< in order
  Tail tail_;
  RecordMaker maker_;
  std::vector<std::byte> gathered_;  ///< the last records before `tail_.offset`
  bool folder_synced_ = true;
  bool leftover_ = false;  ///< a segment that could not be begun at `end_` may have left its file
  std::uint64_t promised_ = 0;  ///< bytes that the last `make_room` has set aside
  Place low_ = 1;
  Place durable_ = 1;
  Place written_ = 1;
  Place end_ = 1;
  std::optional<Error> failure_;
};

}  // namespace gorgo::journal
