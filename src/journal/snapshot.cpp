#include "journal/snapshot.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "journal/journal.hpp"

namespace gorgo::journal {
namespace {

constexpr std::string_view kPrefix = "snapshot-";
constexpr char kUnfinished[] = "/unfinished-snapshot";
/// The record behind all others.
constexpr std::uint16_t kEndKind = 2;
/// A file is written in blocks of this size. That takes a third less time than writing each record,
/// because the system keeps larger pages of blocks that are aligned.
constexpr std::size_t kBlock = std::size_t{1} << 20;

/// The number in a snapshot's header, so that nobody takes it for a segment.
std::uint64_t number_of(std::uint64_t journal) { return ~journal; }

Error damage(const std::string& path, std::uint64_t offset) {
  return {"the snapshot is damaged: " + path + ", byte " + std::to_string(offset),
          "remove it, so that an older one or the whole journal is used; if there is neither, "
          "restore a backup"};
}

}  // namespace

std::string snapshot_path(const std::string& folder, Place place) {
  return folder + '/' + std::string(kPrefix) + segment_name(place);
}

SnapshotWriter::SnapshotWriter(Disk& disk, const std::string& folder, std::uint64_t journal,
                               Place place)
    : disk_(disk),
      folder_(folder),
      place_(place),
      seed_(seed_of(number_of(journal), place)),
      next_(place) {
  gathered_.reserve(kBlock);
}

Result<std::unique_ptr<SnapshotWriter>> SnapshotWriter::begin(Disk& disk, const std::string& folder,
                                                              std::uint64_t journal, Place place) {
  const std::string path = folder + kUnfinished;
  const auto there = disk.exists(path);
  if (!there) return there.error();
  if (*there) {
    if (const auto removed = disk.remove(path); !removed) return removed.error();
  }
  std::unique_ptr<SnapshotWriter> writer(new SnapshotWriter(disk, folder, journal, place));
  auto file = disk.create(path);
  if (!file) return file.error();
  writer->file_ = std::move(*file);
  const SegmentHeader header = seal(
      {.journal = number_of(journal), .first = place, .durable = place, .low = 0, .made = now()});
  if (auto put = writer->put(std::as_bytes(std::span(&header, 1))); !put) return put.error();
  return {std::in_place, std::move(writer)};
}

/// A file that cannot be removed now is removed by the next snapshot.
SnapshotWriter::~SnapshotWriter() {
  if (file_ != nullptr && !has_name_) {
    [[maybe_unused]] const auto removed = disk_.remove(folder_ + kUnfinished);
  }
}

Result<void> SnapshotWriter::add(std::uint16_t kind, std::span<const Bytes> parts) {
  if (length_of(parts) > kMostPayload) {
    return Error{"a record is too large for a snapshot", ""};
  }
  const auto record = maker_.make({.place = next_++, .durable = place_}, kind, seed_, parts);
  for (const Bytes part : record) {
    if (auto done = put(part); !done) return done;
  }
  added_ += length_of(parts);
  return {};
}

Result<void> SnapshotWriter::put(Bytes bytes) {
  while (!bytes.empty()) {
    const Bytes first = bytes.first(std::min(bytes.size(), kBlock - gathered_.size()));
    gathered_.insert(gathered_.end(), first.begin(), first.end());
    bytes = bytes.subspan(first.size());
    if (gathered_.size() < kBlock) break;
    if (auto written = write(); !written) return written;
  }
  return {};
}

Result<void> SnapshotWriter::write() {
  const std::array<Bytes, 1> parts = {gathered_};
  if (auto done = write_all(*file_, written_, parts); !done) return done;
  written_ += gathered_.size();
  gathered_.clear();
  return {};
}

Result<void> SnapshotWriter::finish() {
  if (auto ended = add(kEndKind, {}); !ended) return ended;
  if (auto written = write(); !written) return written;
  if (const auto synced = file_->sync(); !synced) return synced.error();
  const auto named = disk_.rename(folder_ + kUnfinished, snapshot_path(folder_, place_));
  if (!named) return named.error();
  has_name_ = true;
  return disk_.sync_folder(folder_);
}

Result<SnapshotReader> SnapshotReader::open(Disk& disk, const std::string& folder,
                                            std::uint64_t journal, Place place) {
  const std::string path = snapshot_path(folder, place);
  auto file = disk.open_to_read(path);
  if (!file) return file.error();
  auto reader = SegmentReader::open(std::move(*file), path, place);
  if (!reader) return reader.error();
  if (reader->state() != HeaderState::whole) return damage(path, 0);
  if (reader->header().journal != number_of(journal)) {
    return Error{path + " is a snapshot of another journal", "remove it"};
  }
  return {std::in_place, SnapshotReader(std::move(*reader))};
}

Result<std::optional<Record>> SnapshotReader::next() {
  if (ended_) return std::optional<Record>();
  auto record = reader_.next();
  if (!record) return record;
  if (!*record) return damage(reader_.path(), reader_.offset());
  ended_ = (*record)->kind == kEndKind;
  return ended_ ? std::optional<Record>() : *record;
}

Result<std::vector<Place>> snapshots_in(Disk& disk, const std::string& folder) {
  const auto names = disk.list(folder);
  if (!names) return names.error();
  std::vector<Place> places;
  for (const std::string& name : *names) {
    if (!name.starts_with(kPrefix)) continue;
    if (const auto place = first_of(name.substr(kPrefix.size()))) places.push_back(*place);
  }
  std::ranges::sort(places, std::greater<>());
  return {std::in_place, std::move(places)};
}

Result<void> expect_none_ahead(Disk& disk, const std::string& folder, Place end) {
  const auto places = snapshots_in(disk, folder);
  if (!places) return places.error();
  if (places->empty() || places->front() <= end) return {};
  return Error{"the journal ends at place " + std::to_string(end) + ", but " +
                   snapshot_path(folder, places->front()) + " was made when it had more records",
               "put the missing segments back; if a backup took their place on purpose, remove the "
               "snapshots that are not from it"};
}

Result<void> verify_snapshot(Disk& disk, const std::string& folder, std::uint64_t journal,
                             Place place) {
  auto reader = SnapshotReader::open(disk, folder, journal, place);
  if (!reader) return reader.error();
  while (true) {
    const auto record = reader->next();
    if (!record) return record.error();
    if (!*record) return {};
  }
}

}  // namespace gorgo::journal
