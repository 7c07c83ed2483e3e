#include "server/durability/snapshot_thread.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_name.hpp"

namespace gorgo::server {

SnapshotThread::SnapshotThread(journal::Journal& journal, journal::Place place,
                               std::uint64_t retain_hours, Log& log)
    : journal_(journal), place_(place), retain_hours_(retain_hours), log_(log), thread_([this] {
        name_thread("snapshot");
        run();
      }) {}

SnapshotThread::~SnapshotThread() {
  {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
  }
  ready_.notify_one();
  thread_.join();
}

void SnapshotThread::add(SnapshotRecord record) {
  waiting_.fetch_add(record.size(), std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    records_.push_back(std::move(record));
  }
  ready_.notify_one();
}

void SnapshotThread::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ready_.notify_one();
}

void SnapshotThread::wait(bool for_room, std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  progress_.wait_for(lock, most, [&] { return is_done() || (for_room && has_room()); });
}

bool SnapshotThread::take(SnapshotRecord& record) {
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [&] { return given_up_ || ended_ || !records_.empty(); });
  if (given_up_) return false;
  record = {};
  if (records_.empty()) return true;
  record = std::move(records_.front());
  records_.pop_front();
  return true;
}

void SnapshotThread::run() {
  const auto start = std::chrono::steady_clock::now();
  Result<void> done;
  try {
    done = write();
    if (done) trim();
  } catch (const std::exception& failure) {
    done = Error{failure.what(), ""};
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (done.has_error()) {
    log_.warning("no snapshot was made, so the journal grows on",
                 {{"place", place_}, {"why", done.error().to_string()}});
  } else {
    log_.info("snapshot", {{"place", place_},
                           {"bytes", bytes_},
                           {"file_bytes", file_bytes_},
                           {"seconds", std::to_string(took.count())},
                           {"journal_begins", journal_.low()}});
  }
  {
    const std::lock_guard lock(mutex_);
    done_.store(true, std::memory_order_release);
  }
  progress_.notify_one();
}

Result<void> SnapshotThread::write() {
  auto writer =
      journal::SnapshotWriter::begin(journal_.disk(), journal_.folder(), journal_.number(), place_);
  if (!writer) return writer.error();
  while (true) {
    SnapshotRecord record;
    if (!take(record)) return Error{"the server ends, or its journal has failed", ""};
    if (record.kind == 0) break;
    const std::array<journal::Bytes, 2> parts = {journal::Bytes(record.bytes), record.shared};
    const auto added = (*writer)->add(record.kind, parts);
    {
      const std::lock_guard lock(mutex_);
      waiting_.fetch_sub(record.size(), std::memory_order_relaxed);
    }
    progress_.notify_one();
    if (!added) return added.error();
  }
  if (const auto synced = journal_.sync(); !synced) return synced.error();
  if (const auto finished = (*writer)->finish(); !finished) return finished.error();
  bytes_ = (*writer)->bytes();
  file_bytes_ = (*writer)->file_bytes();
  return {};
}

void SnapshotThread::trim() {
  const auto tidied = tidy();
  if (tidied) return;
  log_.warning("the journal was not trimmed, and is tried with the next snapshot again",
               {{"why", tidied.error().to_string()}});
}

/// Two snapshots of this journal stay, so that damage of the latest one is no loss.
Result<void> SnapshotThread::tidy() {
  constexpr std::size_t kKept = 2;
  journal::Disk& disk = journal_.disk();
  const std::string& folder = journal_.folder();
  const auto places = journal::snapshots_in(disk, folder);
  if (!places) return places.error();
  std::vector<journal::Place> kept;
  for (const journal::Place place : *places) {
    if (place > place_) continue;  // somebody has put it there
    if (kept.size() == kKept) {
      const auto removed = disk.remove(journal::snapshot_path(folder, place));
      if (!removed) return removed.error();
    } else if (journal::SnapshotReader::open(disk, folder, journal_.number(), place)) {
      kept.push_back(place);
    }
  }
  if (kept.size() < kKept) return {};
  return journal_.trim(std::min(kept.back(), first_retained()));
}

/// The first place of a segment that may have records which are to be retained. What a segment has
/// is as young as the beginning of the next one.
journal::Place SnapshotThread::first_retained() const {
  if (retain_hours_ == 0) return std::numeric_limits<journal::Place>::max();
  constexpr std::int64_t kHour = 3'600'000'000'000;
  const std::int64_t since = journal::now() - static_cast<std::int64_t>(retain_hours_) * kHour;
  journal::Place first = journal_.low();
  for (const journal::Segment& segment : journal_.segments()) {
    if (segment.made > since) break;
    first = segment.first;
  }
  return first;
}

}  // namespace gorgo::server
