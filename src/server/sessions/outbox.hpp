#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "protocol/framing.hpp"
#include "server/log_limit.hpp"
#include "server/options.hpp"
#include "server/sessions/client_totals.hpp"
#include "server/sessions/out_queue.hpp"

namespace gorgo::server {

/// The bounded outbound queue of one session, and the session as other threads see it. Thread-safe;
/// frames leave in the order in which they were pushed. Pushing never blocks, except `await_room`.
///
/// Where too much waits for the client, the oldest deliveries that may be dropped make room; then
/// the policy of the delivery that finds no room decides. The client is told of every lost row:
/// `lost` of the next delivery counts it, or that of a delivery without rows behind everything that
/// was queued before.
class Outbox {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// What became of a delivery.
  enum class Outcome : std::uint8_t {
    queued,
    full,        ///< there is no room, and its policy is to block: nothing was done
    dropped,     ///< there is no memory, or no room and its policy is to drop
    overflowed,  ///< there is no room: the outbox is closed, and an Error replaces its content
    closed,
  };
  /// What the log is to be told.
  struct Report {
    std::uint64_t lost_rows = 0;  ///< since the report before
    bool overflowed = false;      ///< in one report only, as the next one
    bool withdrawn = false;       ///< see `withdraw`
    std::string why = {};         ///< that was so
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
  /// As they were when the session began.
  const Limits& limits() const { return limits_; }

  /// How many subscriptions the client has. Set by the engine thread, read by any.
  std::uint32_t subscriptions() const { return subscriptions_.load(std::memory_order_relaxed); }
  void set_subscriptions(std::uint32_t count) {
    subscriptions_.store(count, std::memory_order_relaxed);
  }

  /// Tells the session to look again. Without memory to do so it sets the mark of
  /// `take_missed_wake`.
  void wake() noexcept;
  /// Whether the session missed a call of `wake` since this was asked.
  bool take_missed_wake() { return missed_wake_.exchange(false); }

  /// The engine thread has more for the client once it has taken what waits.
  void want_more() { wants_more_ = true; }
  /// Whether that is so; it is said once.
  bool take_wants_more() { return wants_more_.exchange(false); }

  /// A reply is never dropped; without room the outbox overflows.
  Outcome reply(protocol::Bytes frame);
  Outcome deliver(const ClientDelivery& delivery);
  /// Delivers what found the outbox full, once there is room. At `deadline` the outbox overflows.
  Outcome await_room(const ClientDelivery& delivery, Time deadline);
  /// Queues a frame that the client can do without: it is left out when there is no room for it.
  void notice(protocol::Bytes frame);
  /// Counts rows that no frame can hold as lost. The client is told of them.
  void lose(const Gap& rows);
  /// To be called now and then. Where too much has waited for too long, what may be dropped is; if
  /// that is not enough, the outbox overflows.
  void look(Time now);
  /// Whether only deliveries wait that may be dropped, if anything does.
  bool may_wait() const;

  /// From now on deliveries of the subscription wait until they have credit.
  void open_credit(std::uint32_t subscription, const Credit& credit);
  /// Drops what waits for credit, if the subscription has any.
  void close_credit(std::uint32_t subscription);
  /// Allows the subscription more. False: it needs no credit.
  bool grant(std::uint32_t subscription, std::uint64_t rows, std::uint64_t bytes);

  /// Closes the outbox: what is queued is still to be written, but nothing more is accepted.
  void close();
  /// A reply will come, which `close_behind_replies` waits for until it was `paid`.
  void owe();
  void paid();
  /// Closes once all replies are queued that are owed.
  void close_behind_replies();
  /// Does what `close` does, with a last frame behind everything, also when the queue is full.
  void finish(protocol::Bytes last);
  /// Throws away what is queued, tells the client why and how many rows that were, and closes.
  void overload(const Error& why);
  /// Does the same where what is queued is no longer for this client, as where another one has
  /// taken its durable subscription over.
  void withdraw(const Error& why);
  /// The client never gets what is queued or being written: closes, and counts those rows as lost.
  void give_up();

  /// For a connection that is over: closes, and forgets what is queued.
  void abandon();

  /// For the writer: takes what is queued, in order, about `kMostWritten` bytes of it. That counts
  /// as queued until `written`.
  std::vector<OutFrame> take();
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
  const std::uint64_t id_;
  const std::string peer_;
  const Limits limits_;
  ClientTotals& totals_;
  const std::function<void()> wake_;

  std::atomic<bool> missed_wake_ = false;
  std::atomic<bool> wants_more_ = false;
  std::atomic<std::uint32_t> subscriptions_ = 0;

  mutable std::mutex mutex_;  // guards all below; no other lock is taken while it is held
  std::condition_variable room_;
  OutQueue queue_;
  std::optional<Time> above_soft_;  // since when too much waits
  LogLimit loss_log_;
  Report report_;
  bool report_due_ = false;  // the session was not yet woken for the report
  bool closed_ = false;
  bool closes_behind_replies_ = false;
  std::uint32_t owed_ = 0;  // replies
  bool notified_ = false;   // the writer was woken and has not looked yet
  bool awaited_ = false;    // somebody waits for room

  /// Drops what may be dropped until there is room. Returns whether there is.
  bool make_room(std::size_t bytes, const ClientDelivery* newcomer = nullptr);
  Outcome put(const ClientDelivery& delivery);
  /// There is room for it.
  Outcome push(const ClientDelivery& delivery);
  void count_lost(std::uint64_t rows);
  /// The delivery does not reach the client.
  void leave_out(const ClientDelivery& delivery);
  /// Throws away what is queued, puts the Error in its place and closes.
  void overflow(const Error& why);
  void replace_by(const Error& why, wire::ErrorCode code);
  void note_bytes();
  Error overflow_error() const;
  void notify(std::unique_lock<std::mutex> lock);
};

}  // namespace gorgo::server
