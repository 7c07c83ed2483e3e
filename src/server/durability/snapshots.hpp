#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "gorgo/processor.hpp"
#include "server/command_queue.hpp"
#include "server/durability/journal_writer.hpp"
#include "server/durability/server_state.hpp"
#include "server/durability/snapshot_thread.hpp"
#include "server/log.hpp"
#include "server/options.hpp"

namespace gorgo::server {

/// Makes snapshots beside the work of the engine thread, so that a start replays little and the
/// journal can be trimmed. What events change is taken at once between two turns; texts and the
/// events that are remembered are taken some at a time, and another thread writes. A snapshot is
/// due when so much was written into the journal as `snapshot_bytes` say, and at least as much as
/// the last snapshot has. Under a load that makes snapshots a considerable part of the work it
/// waits longer: until as much has passed as kRest times the last one took, or kMostGrowth times as
/// much was written. A snapshot that fails, as there is no memory, no thread or no room for it, is
/// given up and logged, and the next one is due when as much was written again. If the journal
/// finds no room, which keeps more from being written, the next one is due after a rest: files of
/// the journal may go behind it.
///
/// Belongs to the engine thread.
class Snapshots {
 public:
  Snapshots(const JournalOptions& options, JournalWriter& journal, Processor& processor,
            const ServerKnowledge& knowledge, CommandQueue& queue, Log& log);

  /// The start has read a snapshot of so many bytes, and records behind it of so many.
  void recovered(std::uint64_t snapshot_bytes, std::uint64_t record_bytes);
  /// Goes on, or begins one that is due. To be called between turns, when nothing is pending.
  void look();
  /// Takes what is left to take of the state, so that rules may come and go. Gives up where that is
  /// much, because it would have to wait in memory; a snapshot is due again then.
  void finish_taking();
  /// Makes a snapshot of the end and waits for it, so that a start behind it replays nothing. A
  /// stop of the processor ends the wait without one. Precondition: nothing more is to be written.
  void make_last();
  /// Whether `look` has more to do soon.
  bool is_taking() const { return processor_.is_saving(); }
  /// Gives up what is not finished.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;

  /// The work of snapshots is at most a tenth of all, where the growth below allows it.
  static constexpr int kRest = 9;
  /// Bounds what a start replays behind a snapshot, in bytes of it.
  static constexpr std::uint64_t kMostGrowth = 4;

  const JournalOptions options_;
  JournalWriter& journal_;
  Processor& processor_;
  const ServerKnowledge knowledge_;
  CommandQueue& queue_;
  Log& log_;
  std::unique_ptr<SnapshotThread> thread_;  // null: none was begun
  std::optional<ServerParts> parts_;        // of the server that are not taken yet
  std::optional<SnapshotRecord> state_;     // of the processor, to follow those parts
  std::deque<SnapshotRecord> chunks_;       // to follow what the processor saves
  // What the journal had written when the last one was begun, or could not be.
  std::uint64_t from_ = 0;
  std::uint64_t before_ = 0;     // bytes of records behind the snapshot of the start
  std::uint64_t last_size_ = 0;  // of the last one that was finished
  Clock::time_point begun_;
  Clock::time_point rests_until_;           // after the last one that was finished or has failed
  std::optional<std::uint64_t> failed_at_;  // the last one; shortages of the journal then

  bool is_due() const;
  /// What is due next waits kRest times as long as the last one took, and at least so long.
  void rest(Clock::duration least = {});
  void note_failure();
  /// Takes a step of a snapshot, which is given up where the step throws.
  void attempt(const std::function<void()>& step);
  void go_on();
  void go_to_the_end();
  /// Forgets a snapshot that is done or has failed.
  void end_if_done();
  void begin();
  std::optional<SnapshotRecord> next_record(std::size_t bytes);
  std::size_t take_some(std::size_t bytes);
  /// Forgets what was to be written.
  void forget();
};

}  // namespace gorgo::server
