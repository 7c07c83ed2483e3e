#include "journal/journal.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <random>
#include <utility>

#include "journal/recovery.hpp"

namespace gorgo::journal {
namespace {

std::uint64_t random_number() {
  std::random_device device;
  const std::uint64_t high = device();
  return high << 32 | device();
}

}  // namespace

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string Recovery::to_string() const {
  if (torn_bytes == 0) return {};
  return std::to_string(torn_bytes) + " bytes from place " + std::to_string(end) +
         " on, of which nothing says that they were durable, were cut off " + torn_in +
         "; files that begin with a whole record there are kept as *.unreached";
}

Journal::Journal(Disk& disk, std::string folder, const Options& options)
    : disk_(disk), folder_(std::move(folder)), options_(options) {
  gathered_.reserve(options.gather_bytes);
}

Result<std::unique_ptr<Journal>> Journal::open(Disk& disk, const std::string& folder,
                                               const Options& options) {
  if (const auto made = make_durable_folder(disk, folder); !made) return made.error();
  std::unique_ptr<Journal> journal(new Journal(disk, folder, options));
  auto lock = disk.lock_folder(folder);
  if (!lock) return lock.error();
  journal->lock_ = std::move(*lock);
  if (const auto recovered = journal->recover(); !recovered) return recovered.error();
  return {std::in_place, std::move(journal)};
}

Result<void> Journal::recover() {
  auto found = journal::recover(disk_, folder_);
  if (!found) return found.error();
  segments_ = std::move(found->segments);
  number_ = found->journal != 0 ? found->journal : options_.number;
  while (number_ == 0) number_ = random_number();
  low_ = found->low;
  durable_ = written_ = end_ = found->end;
  recovery_ = {low_, end_, found->torn_bytes, found->torn_in};
  return {};
}

Place Journal::low() const {
  const std::lock_guard lock(mutex_);
  return low_;
}

Place Journal::durable() const {
  const std::lock_guard lock(mutex_);
  return durable_;
}

Place Journal::written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

Place Journal::end() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

std::vector<Segment> Journal::segments() const {
  const std::lock_guard lock(mutex_);
  return segments_;
}

std::optional<Error> Journal::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Error Journal::fail(const Error& error) {
  failure_ = Error{"the journal in " + folder_ + " has failed: " + error.message,
                   "nothing more is written into it; see to the disk and start again"};
  return *failure_;
}

Result<Place> Journal::append(std::uint16_t kind, std::span<const Bytes> parts) {
  const std::lock_guard lock(mutex_);
  return append_locked(kind, parts);
}

Result<Place> Journal::append_locked(std::uint16_t kind, std::span<const Bytes> parts) {
  if (failure_) return *failure_;
  const std::uint64_t length = length_of(parts);
  if (length > kMostPayload) {
    return Error{"a record of " + std::to_string(length) + " bytes is too large for the journal",
                 "at most " + std::to_string(kMostPayload) + " bytes are possible"};
  }
  if (const auto room = provide(record_bytes(length)); !room) return room.error();
  const auto record = maker_.make({.place = end_, .durable = durable_}, kind, tail_.seed, parts);
  if (const auto done = put(record); !done) return done.error();
  const Place place = end_++;
  if (gathered_.empty()) written_ = end_;
  return place;
}

Result<void> Journal::put(std::span<const Bytes> record) {
  const std::uint64_t size = length_of(record);
  if (gathered_.size() + size > options_.gather_bytes) {
    if (auto written = write_locked(); !written) return written;
  }
  if (size <= options_.gather_bytes) {
    for (const Bytes part : record) gathered_.insert(gathered_.end(), part.begin(), part.end());
  } else if (const auto written = write_all(*tail_.file, tail_.offset, record); !written) {
    return fail(written.error());
  }
  tail_.offset += size;
  tail_.synced = false;
  return {};
}

Result<void> Journal::write() {
  const std::lock_guard lock(mutex_);
  if (failure_) return *failure_;
  return write_locked();
}

Result<void> Journal::write_locked() {
  if (gathered_.empty()) return {};
  const std::array<Bytes, 1> parts = {gathered_};
  const auto written = write_all(*tail_.file, tail_.offset - gathered_.size(), parts);
  gathered_.clear();
  if (!written) return fail(written.error());
  written_ = end_;
  return {};
}

Result<void> Journal::make_room(std::uint64_t length) {
  const std::lock_guard lock(mutex_);
  if (failure_) return *failure_;
  auto room = provide(record_bytes(length));
  if (room) promised_ = record_bytes(length);
  return room;
}

Result<void> Journal::provide(std::uint64_t record) {
  if (!tail_.file) return begin_segment(record, options_.segment_bytes);
  if (record <= tail_.size - tail_.offset) return forget_segment();
  // A segment without a record has the name that the next one would have.
  if (tail_.offset > sizeof(SegmentHeader)) return begin_segment(record, options_.segment_bytes);
  const std::uint64_t size = tail_.offset + record;
  if (auto room = tail_.file->allocate(size); !room) return room;
  tail_.size = size;
  return {};
}

/// The file comes first: where there is no room for it, the last segment goes on.
Result<void> Journal::begin_segment(std::uint64_t record, std::uint64_t bytes) {
  const SegmentHeader header = seal({.journal = number_,
                                     .first = end_,
                                     .durable = durable_,
                                     .low = low_,
                                     .made = options_.clock()});
  const std::uint64_t size = std::max(bytes, sizeof(header) + record);
  const Segment segment{header.first, header.made};
  auto file = make_segment(segment.path(folder_), header, size);
  if (!file) return file.error();
  if (const auto closed = close_segment(); !closed) return closed.error();
  leftover_ = false;
  tail_ = {.file = std::move(*file),
           .seed = seed_of(number_, end_),
           .offset = sizeof(header),
           .size = size};
  segments_.push_back(segment);
  folder_synced_ = false;
  return {};
}

Result<std::shared_ptr<File>> Journal::make_segment(const std::string& path,
                                                    const SegmentHeader& header,
                                                    std::uint64_t size) {
  if (const auto removed = remove_leftover(); !removed) return removed.error();
  leftover_ = true;
  auto file = disk_.create(path);
  if (!file) return file.error();
  if (const auto room = (*file)->allocate(size); !room) {
    // The file may hold a part of the room. Where this fails, `remove_leftover` tries again.
    (void)disk_.remove(path);
    return room.error();
  }
  const std::array<Bytes, 1> parts = {std::as_bytes(std::span(&header, 1))};
  if (const auto written = write_all(**file, 0, parts); !written) return written.error();
  return std::shared_ptr<File>(std::move(*file));
}

Result<void> Journal::remove_leftover() {
  if (!leftover_) return {};
  const std::string path = Segment{end_, 0}.path(folder_);
  const auto there = disk_.exists(path);
  if (!there) return there.error();
  if (*there) {
    if (auto removed = disk_.remove(path); !removed) return removed;
  }
  leftover_ = false;
  return {};
}

/// To be called before records go on in the last segment: after a crash, a file that was left would
/// say that it has them.
Result<void> Journal::forget_segment() {
  if (!leftover_) return {};
  if (auto removed = remove_leftover(); !removed) return removed;
  if (const auto synced = disk_.sync_folder(folder_); !synced) return fail(synced.error());
  return {};
}

/// The room behind the last record is given back by the next sync: that takes milliseconds while
/// the system writes the last page.
Result<void> Journal::close_segment() {
  if (!tail_.file) return {};
  if (auto written = write_locked(); !written) return written;
  full_.push_back({std::move(tail_.file), tail_.offset});
  return {};
}

Result<void> Journal::Full::finish() const {
  if (auto cut = file->truncate(size); !cut) return cut;
  return file->sync();
}

Result<Place> Journal::sync() {
  const std::lock_guard one_at_a_time(sync_mutex_);
  std::unique_lock lock(mutex_);
  if (failure_) return *failure_;
  if (durable_ == end_) return durable_;
  if (const auto written = write_locked(); !written) return written.error();
  const Place target = end_;
  const std::vector<Full> full = full_;
  const std::shared_ptr<File> tail = tail_.synced ? nullptr : tail_.file;
  tail_.synced = true;
  const bool folder_synced = std::exchange(folder_synced_, true);
  lock.unlock();
  Result<void> done;
  for (std::size_t i = 0; i < full.size() && done; ++i) done = full[i].finish();
  if (done && tail) done = tail->sync();
  if (done && !folder_synced) done = disk_.sync_folder(folder_);
  lock.lock();
  if (!done) return fail(done.error());
  full_.erase(full_.begin(), full_.begin() + static_cast<std::ptrdiff_t>(full.size()));
  return durable_ = target;
}

View Journal::view() const {
  const std::lock_guard lock(mutex_);
  return {&disk_, folder_, number_, low_, written_, segments_};
}

Result<Reader> Journal::read(Place from) const {
  const std::lock_guard lock(mutex_);
  if (from < low_) {
    return Error{"the journal begins at place " + std::to_string(low_) + ", and not at " +
                     std::to_string(from),
                 ""};
  }
  return Reader(disk_, folder_, segments_, from, written_);
}

/// Where the first segment begins that is needed, when nothing below `place` is.
Place Journal::low_for(Place place) const {
  Place low = low_;
  for (const Segment& segment : segments_) {
    if (segment.first <= place) low = std::max(low, segment.first);
  }
  return low;
}

/// A new segment says what the low place is. All that the caller knew when it said that nothing
/// below is needed was durable before.
Result<void> Journal::write_low(Place low) {
  const std::lock_guard lock(mutex_);
  if (failure_) return *failure_;
  // The new segment would have the name of one that has no records.
  if (tail_.file && tail_.offset == sizeof(SegmentHeader)) {
    if (auto marked = write_mark(); !marked) return marked;
  }
  const Place before = std::exchange(low_, low);
  const std::uint64_t needed = record_bytes(kSectorBytes) + promised_;
  auto done = begin_segment(needed, options_.segment_bytes);
  // On a full disk a small one does, because what it lets go of makes room.
  if (!done && !failure_) done = begin_segment(needed, 0);
  // A recovery would remove a segment without records.
  if (done) done = write_mark();
  if (!done) low_ = before;
  return done;
}

Result<void> Journal::trim(Place place) {
  const std::lock_guard one_at_a_time(trim_mutex_);
  Place low = 0;
  {
    const std::lock_guard lock(mutex_);
    low = low_for(place);
    if (low == low_) return {};
  }
  if (const auto synced = sync(); !synced) return synced.error();
  if (const auto written = write_low(low); !written) return written.error();
  if (const auto synced = sync(); !synced) return synced.error();
  while (true) {
    const Segment oldest = segments().front();
    if (oldest.first >= low) return {};
    if (const auto removed = disk_.remove(oldest.path(folder_)); !removed) return removed.error();
    const std::lock_guard lock(mutex_);
    segments_.erase(segments_.begin());
  }
}

/// What was promised stays free behind it.
Result<void> Journal::write_mark() {
  if (const auto room = provide(record_bytes(kSectorBytes) + promised_); !room) return room;
  static const std::string kSector(kSectorBytes, 'm');
  const std::array<Bytes, 1> parts = {std::as_bytes(std::span(kSector))};
  const auto written = append_locked(kMarkKind, parts);
  if (!written) return written.error();
  return {};
}

Result<void> Journal::close() {
  if (const auto synced = sync(); !synced) return synced.error();
  {
    const std::lock_guard lock(mutex_);
    if (!tail_.file) return {};
    promised_ = 0;
    // The second one has its header in another sector than the last record.
    for (int i = 0; i < 2; ++i) {
      if (const auto written = write_mark(); !written) return written.error();
    }
  }
  if (const auto synced = sync(); !synced) return synced.error();
  return {};
}

}  // namespace gorgo::journal
