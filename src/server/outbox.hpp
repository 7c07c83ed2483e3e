#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "protocol/framing.hpp"
#include "server/client_totals.hpp"
#include "server/log_limit.hpp"
#include "server/options.hpp"

namespace gorgo::server {

/// The bounded outbound queue of one session, and the session as other threads see it. Pushing
/// never blocks. Thread-safe; frames leave in the order in which they were pushed.
///
/// The client is told of every lost row: `lost` of the next delivery counts it, or that of a
/// delivery without rows behind everything that was queued before.
class Outbox {
 public:
  /// What became of a delivery.
  enum class Outcome : std::uint8_t {
    queued,
    dropped,     ///< the queue is full and the policy is to drop
    overflowed,  ///< the queue is full: it is closed, and an Error replaces its content
    closed,
  };
  /// What the log is to be told.
  struct Report {
    std::uint64_t lost_rows = 0;  ///< since the report before
    bool overflowed = false;      ///< in one report only
  };

  /// `wake` is called, without a lock held, when the writer should look again or `report` has
  /// something. `totals` must outlive the outbox.
  Outbox(std::uint64_t id, std::string peer, const Limits& limits, ClientTotals& totals,
         std::function<void()> wake);
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  std::uint64_t id() const { return id_; }
  const std::string& peer() const { return peer_; }

  /// Tells the session to look again. Without memory to do so it sets the mark of
  /// `take_missed_wake`.
  void wake() noexcept;
  /// Whether the session missed a call of `wake` since this was asked.
  bool take_missed_wake() { return missed_wake_.exchange(false); }

  /// A reply is never dropped; a full queue overflows.
  Outcome reply(protocol::Bytes frame);
  /// `frame` is a Deliver of `rows` rows; its `lost` is set here.
  Outcome deliver(protocol::Bytes frame, std::size_t rows);
  /// Queues a frame that the client can do without: it is left out when there is no room for it.
  void notice(protocol::Bytes frame);
  /// Counts rows that no frame can hold as lost. The client is told how many.
  void lose(std::size_t rows);
  /// Closes the outbox: what is queued is still to be written, but nothing more is accepted.
  void close();
  /// Does what `close` does, with a last frame behind everything, also when the queue is full.
  void finish(protocol::Bytes last);
  /// Throws away what is queued, tells the client why and how many rows that were, and closes.
  void overload(const Error& why);
  /// The client never gets what is queued or being written: closes, and counts those rows as lost.
  void give_up();

  /// For a connection that is over: closes, and forgets what is queued.
  void abandon();

  /// For the writer: takes what is queued, in order, about `kMostWritten` bytes of it. That counts
  /// as queued until `written`.
  std::vector<protocol::Bytes> take();
  /// What the last `take` gave is written.
  void written();
  bool closed() const;
  /// Bytes that are queued or being written.
  std::size_t bytes() const;
  /// What the log is to be told, each number once. Lost rows are in it at most every
  /// `LogLimit::kPause`, except with `all`.
  Report report(bool all = false);

  static constexpr std::size_t kMostWritten = std::size_t{1} << 20;

 private:
  struct Frame {
    protocol::Bytes bytes;
    std::size_t rows;
  };

  const std::uint64_t id_;
  const std::string peer_;
  const std::size_t max_bytes_;
  const SlowConsumer policy_;
  ClientTotals& totals_;
  const std::function<void()> wake_;

  std::atomic<bool> missed_wake_ = false;

  mutable std::mutex mutex_;  // guards all below; no other lock is taken while it is held
  std::deque<Frame> frames_;
  std::size_t bytes_ = 0;  // queued and being written
  std::size_t writing_bytes_ = 0;
  std::uint64_t writing_rows_ = 0;
  std::uint64_t lost_ = 0;  // lost rows that the client was not told of
  LogLimit loss_log_;
  Report report_;
  bool report_due_ = false;  // the session was not yet woken for the report
  bool closed_ = false;
  bool notified_ = false;  // the writer was woken and has not looked yet

  void append(protocol::Bytes frame, std::size_t rows);
  void clear_frames();
  void count_lost(std::uint64_t rows);
  void tell_losses();
  void replace_by(const Error& why);
  Error overflow_error() const;
  void notify(std::unique_lock<std::mutex> lock);
};

}  // namespace gorgo::server
