#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "journal/disk.hpp"
#include "journal/format.hpp"
#include "journal/record_maker.hpp"
#include "journal/segment_reader.hpp"

/// Snapshots: files beside the segments of a journal, each of which says what a server knew when
/// the record of some place was to be written, so that no record before it is needed. A snapshot is
/// a segment with another name, whose records are the snapshot's own; the last one says that it is
/// whole. Its file has another name until all of it is durable, and never changes afterwards.
namespace gorgo::journal {

/// Writes one. One thread. What does not become whole is removed.
class SnapshotWriter {
 public:
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  /// `journal`: the number of the journal. What was left of another one that never became whole is
  /// removed.
  static Result<std::unique_ptr<SnapshotWriter>> begin(Disk& disk, const std::string& folder,
                                                       std::uint64_t journal, Place place);

  /// `kind` is at least kFirstKind.
  Result<void> add(std::uint16_t kind, std::span<const Bytes> parts);
  /// Makes it durable and gives it its name. Precondition: all records of the journal before its
  /// place are durable.
  Result<void> finish();
  /// The bytes of all payloads so far, as they are before they are packed.
  std::uint64_t bytes() const { return added_; }
  /// The bytes of the file so far.
  std::uint64_t file_bytes() const { return written_ + gathered_.size(); }

 private:
  SnapshotWriter(Disk& disk, const std::string& folder, std::uint64_t journal, Place place);

  Disk& disk_;
  const std::string folder_;
  const Place place_;
  const std::uint32_t seed_;
  std::unique_ptr<File> file_;
  RecordMaker maker_;
  std::vector<std::byte> gathered_;  ///< the end, which is not written yet
  std::uint64_t added_ = 0;          ///< bytes of payloads
  std::uint64_t written_ = 0;        ///< bytes; whole blocks until the end
  Place next_;
  bool has_name_ = false;

  Result<void> put(Bytes bytes);
  Result<void> write();
};

/// Reads one, in order. One thread.
class SnapshotReader {
 public:
  static Result<SnapshotReader> open(Disk& disk, const std::string& folder, std::uint64_t journal,
                                     Place place);

  /// The next record, or nothing behind the last one. An error: the file is damaged.
  Result<std::optional<Record>> next();
  /// Bytes of its file, and those of them that were read.
  std::uint64_t size() const { return reader_.size(); }
  std::uint64_t offset() const { return reader_.offset(); }

 private:
  explicit SnapshotReader(SegmentReader reader) : reader_(std::move(reader)) {}

  SegmentReader reader_;
  bool ended_ = false;
};

/// The places of the snapshots in a folder, the latest first.
Result<std::vector<Place>> snapshots_in(Disk& disk, const std::string& folder);
/// Reads all of a snapshot. An error: it is damaged, or belongs to another journal.
Result<void> verify_snapshot(Disk& disk, const std::string& folder, std::uint64_t journal,
                             Place place);
std::string snapshot_path(const std::string& folder, Place place);
/// An error: a snapshot says that records behind the end of the journal were durable. So they are
/// missing, or the segments are those of another time than the snapshot.
Result<void> expect_none_ahead(Disk& disk, const std::string& folder, Place end);

}  // namespace gorgo::journal
