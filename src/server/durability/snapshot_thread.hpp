#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "journal/journal.hpp"
#include "journal/snapshot.hpp"
#include "server/durability/snapshot_record.hpp"
#include "server/log.hpp"

namespace gorgo::server {

/// Writes one snapshot on a thread of its own. When it is whole and durable, the snapshots and the
/// segments go that no start needs any more. A failure is logged and leaves what was there before.
class SnapshotThread {
 public:
  /// `journal` and `log` outlive it.
  SnapshotThread(journal::Journal& journal, journal::Place place, std::uint64_t retain_hours,
                 Log& log);
  /// Gives up what is not finished.
  ~SnapshotThread();

  /// Whether it should be given more: little waits for the disk.
  bool has_room() const { return waiting_.load(std::memory_order_relaxed) < kMostWaiting; }
  /// Writes a record behind those before.
  void add(SnapshotRecord record);
  /// There are no more records.
  void end();
  /// Waits until it is over or, with `for_room`, should be given more; at most so long.
  void wait(bool for_room, std::chrono::milliseconds most);
  /// Whether it is over.
  bool is_done() const { return done_.load(std::memory_order_acquire); }
  /// How large it has become; 0: it failed. Precondition: `is_done()`.
  std::uint64_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kMostWaiting = std::size_t{8} << 20;

  journal::Journal& journal_;
  const journal::Place place_;
  const std::uint64_t retain_hours_;
  Log& log_;
  std::mutex mutex_;
  std::condition_variable ready_;     // for the thread
  std::condition_variable progress_;  // for who waits for it
  std::deque<SnapshotRecord> records_;
  bool ended_ = false, given_up_ = false;
  std::atomic<std::size_t> waiting_ = 0;  // bytes of `records_`
  std::atomic<bool> done_ = false;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t bytes_ = 0;
  std::thread thread_;  // last: it uses the others

  void run();
  Result<void> write();
  /// The next record; its kind is 0 behind the last one. False: it is given up.
  bool take(SnapshotRecord& record);
  void trim();
  Result<void> tidy();
  journal::Place first_retained() const;
};

}  // namespace gorgo::server
