#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "gorgo/processor.hpp"
#include "journal/committer.hpp"
#include "journal/journal.hpp"
#include "journal/records.hpp"
#include "server/log.hpp"
#include "server/options.hpp"
#include "server/sessions/outbox.hpp"

namespace gorgo::server {

/// The journal's disk has failed, and the server has to end. It is no std::exception, because those
/// end only the request in hand.
struct JournalFailed {
  std::string why;
};

/// Rows of a publication that the processor was given together.
struct TakenPiece {
  std::span<const std::uint8_t> frame;
  journal::Place frame_at = 0;  ///< where the frame stands already; 0: nowhere
  Timestamp clock = 0;
  std::uint32_t first_row = 0;
  std::uint32_t rows = 0;
  std::span<const std::uint32_t> refused;  ///< of these rows
};

/// Writes what decides results into the journal, in the order in which the engine thread does it,
/// and keeps back what must not leave before that is written or durable. Without a journal it does
/// nothing and keeps nothing back.
///
/// Belongs to the engine thread; another one sends replies as soon as their records are durable.
/// What it writes was done already, so a disk that fails leaves a
/// processor that is ahead of the journal: by the configured policy the server ends (functions that
/// write throw JournalFailed), nothing is changed or delivered any more, or it goes on without a
/// journal.
class JournalWriter {
 public:
  /// `on_synced` is called on another thread when `synced` should be called.
  JournalWriter(const JournalOptions& options, Log& log, std::function<void()> on_synced);
  ~JournalWriter();

  /// Opens the journal in the folder that is configured, if one is.
  Result<void> open();
  /// Has the journal begin a file. An error, whatever `on_failure` says: nothing was taken yet that
  /// would be lost with the server, and whoever starts it learns that it would keep nothing.
  Result<void> begin();
  /// Whether records are written.
  bool is_on() const { return journal_ != nullptr && !failure_; }
  /// Why nothing may be changed any more, if that is so.
  const std::optional<Error>& read_only() const { return read_only_; }
  /// Whether there is such a reason. Any thread.
  bool is_read_only() const { return is_read_only_; }
  /// Precondition: `open` has opened one.
  const journal::Journal& journal() const { return *journal_; }
  journal::Journal& journal() { return *journal_; }

  /// Bytes of records that were written since `open`.
  std::uint64_t written() const { return written_; }

  /// Whether what follows has room; to be asked before anything is changed. An error says why not.
  Result<void> make_room(std::size_t bytes);
  /// Whether the rest of a publication that has begun has room. It cannot be refused, and whoever
  /// waits for its answer may be the one who would make room, so `make_room` leaves a little for
  /// it.
  Result<void> make_room_for_rest(std::size_t bytes);
  /// How often there was no room.
  std::uint64_t shortages() const { return shortages_; }

  /// Where the piece's frame stands.
  journal::Place write(const TakenPiece& piece);
  /// A request that changes something and is carried out in the same way again.
  void write_request(std::span<const std::uint8_t> frame);
  template <class Table>
  void write(journal::stored::Kind kind, const typename Table::NativeTableType& record) {
    if (is_on()) append(kind, journal::encode<Table>(record));
  }

  /// Waits until everything that was written is durable.
  void await_durable();
  /// What was recorded is written, and with `Durability::durable` it is durable: nothing may show
  /// earlier.
  void before_output();
  /// Replies once everything that was written is durable. Without a journal that is at once.
  void reply_when_durable(const std::shared_ptr<Outbox>& client, protocol::Bytes reply);
  /// Replies once the end of the process does not lose what was recorded: with the next
  /// `write_gathered`.
  void reply_when_written(const std::shared_ptr<Outbox>& client, protocol::Bytes reply);
  /// Replies as `durability` demands it.
  void reply(const std::shared_ptr<Outbox>& client, protocol::Bytes reply);
  /// Something waits until everything that was written is durable.
  void want_sync() { wanted_ = true; }

  /// Writes the records so far, and sends the replies that wait for that. To be called before an
  /// evaluation.
  void write_gathered();
  /// Asks for what the turn needs so far, so that the disk syncs while events are evaluated. To be
  /// called when all commands of the turn are carried out.
  void begin_sync();
  /// Asks for what the turn needs. To be called behind each turn.
  void end_turn();
  /// How long until `end_turn` has something to do; unset: there is nothing.
  std::optional<std::chrono::nanoseconds> due_in() const;
  /// To be called behind each sync.
  void synced();
  /// Makes everything durable and closes the journal.
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    journal::Place place;  // the last one that must be durable
    std::shared_ptr<Outbox> client;
    protocol::Bytes reply;
  };

  const JournalOptions options_;
  Log& log_;
  const std::function<void()> on_synced_;
  std::shared_ptr<journal::Disk> disk_;
  std::unique_ptr<journal::Journal> journal_;
  std::deque<Waiting> unwritten_;  // replies that wait for `write_gathered`, by place
  std::mutex waiting_mutex_;
  std::deque<Waiting>
      waiting_;  // by place; under the mutex, and so is their sending, for its order
  std::optional<Error> failure_, read_only_;
  std::atomic<bool> is_read_only_ = false;
  std::uint64_t written_ = 0;
  std::uint64_t shortages_ = 0;
  bool wanted_ = false;  // a sync, by the end of the turn
  Clock::time_point synced_at_ = Clock::now();
  std::unique_ptr<journal::Committer> committer_;  // last: its thread calls `on_synced_`

  void append(journal::stored::Kind kind, journal::Bytes payload);
  journal::Place append(journal::stored::Kind kind, std::span<const journal::Bytes> parts);
  static void send(Waiting& waiting);
  bool is_awaited();
  bool is_durable() const { return journal_->durable() == journal_->end(); }
  void send_durable();
  void fail(const Error& why);
};

}  // namespace gorgo::server
