#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "server/closed_connections.hpp"
#include "server/command_queue.hpp"
#include "server/dialect.hpp"
#include "server/durability/start_progress.hpp"
#include "server/liveness.hpp"
#include "server/log.hpp"
#include "server/log_limit.hpp"
#include "server/outbox.hpp"
#include "server/recent_rate.hpp"
#include "server/security/accounts.hpp"
#include "server/security/doorkeeper.hpp"
#include "server/server_counters.hpp"
#include "server/transport.hpp"

namespace gorgo::server {

/// What all sessions share. Belongs to the I/O thread, except where a member says otherwise.
struct SessionHub {
  boost::asio::io_context& io;
  const ServerOptions& options;
  Log& log;
  CommandQueue& queue;
  ClientTotals& totals;
  Doorkeeper& doorkeeper;
  Accounts& accounts;
  std::function<void(Session&)> on_end;  ///< the session is over and may be forgotten
  std::function<ServerCounters()> counters;
  /// Takes over the configuration as it is now. An error: nothing was changed.
  std::function<Result<std::unique_ptr<Reload>>()> begin_reload = {};
  ClosedConnections closed = {};
  std::function<std::vector<ConnectionInfo>()> connections;
  /// Ends the connection of this number on behalf of an operator. An error: there is none.
  std::function<Result<void>(std::uint64_t)> disconnect = {};
  /// Set while the server starts: requests that need the engine are refused.
  const StartProgress* starts = nullptr;
  /// Set while the server is about to stop and still serves: when it stops. docs/server.md
  std::optional<std::chrono::steady_clock::time_point> stops_at = {};
  std::atomic<std::uint64_t> malformed = 0;         ///< frames and messages refused; read anywhere
  std::atomic<std::uint64_t> malformed_lines = 0;   ///< event lines that were none; read anywhere
  std::atomic<std::uint64_t> stalled_reads = 0;     ///< a reader waited for room; read anywhere
  std::atomic<std::uint64_t> dropped_requests = 0;  ///< their client had gone; read anywhere
  /// Rules and subscriptions of T-Rex that were not taken; read anywhere.
  std::atomic<std::uint64_t> refused_trex = 0;
  std::atomic<std::uint64_t> failed_handshakes = 0;  ///< of TLS; read anywhere
  LogLimit handshake_log = {};
  std::atomic<std::uint64_t> forbidden = 0;  ///< requests of users who may not; read anywhere
};

/// One connection, whatever it speaks: its outbox, its lane of the queue, its memory, its time-outs
/// and its end. What it speaks is its dialect. A reader, which has the dialect turn bytes into
/// requests, and a writer, which has it empty the outbox, are coroutines on the I/O thread. Owned
/// by its coroutines and by the hub's owner.
class Session : public std::enable_shared_from_this<Session> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static std::shared_ptr<Session> make(Transport transport, std::uint64_t id, SessionHub& hub,
                                       const DialectMaker& dialect);

  void start();
  /// Says why and ends, without ever reading.
  void refuse(const Error& why);
  bool refused() const { return refused_; }
  /// Tells the client when the server stops, if it does. The client is served on until then.
  void tell_of_stop();
  /// Takes no further request; what the client still sends is thrown away.
  void stop_reading();
  /// Says that the server stops, writes what is queued and ends, at the latest after the drain
  /// timeout.
  void finish();
  /// Ends behind the replies to what was read, and tells the client why.
  void turn_away(EndReason reason, wire::ErrorCode code, const Error& why);
  /// Ends at once. What the client has not got by now counts as lost.
  void give_up();
  /// Gives back what the session holds: throws away its requests and what it would be sent, and
  /// ends it. The client is told why.
  void overload(const Error& why);
  /// To be called now and then: ends the session when the client lets a time-out pass.
  void look(Time now);

  std::uint64_t id() const { return outbox_->id(); }
  const std::string& peer() const { return outbox_->peer(); }
  /// Bytes that the client has the server hold.
  std::size_t memory() const;
  ConnectionInfo info() const;

  // For its dialect.

  SessionHub& hub() { return hub_; }
  Outbox& outbox() { return *outbox_; }
  Transport& transport() { return transport_; }
  /// Whether no further request is taken.
  bool stopping() const { return stopping_; }
  /// Whether nothing more can be read or written.
  bool aborted() const { return aborted_; }
  /// Whether what the dialect has to say is still written.
  bool writing() const { return writing_; }

  /// Who the client is, as the doorkeeper has found out; null: nobody, yet.
  const UserPtr& user() const { return user_; }
  void set_user(UserPtr user);
  /// Does the same for a user who has come in, and counts the connection among those of the user.
  /// An error: the user has too many; nothing has changed.
  Result<void> let_in(const UserPtr& user);
  /// What the client calls itself.
  void set_name(std::string name) { name_ = std::move(name); }

  /// The client has said what it must say first. Until then only the greeting time-out counts.
  void greeted();
  /// Has the session end unless `greeted` is called before so much time has passed.
  void await_greeting(std::chrono::milliseconds limit);
  bool is_greeted() const { return greeted_; }
  /// Bytes of a message that is not complete are there; its time-out runs from the first call.
  void message_begun();
  /// No part of a message waits for its rest.
  void message_over() { liveness_.message_over(); }
  /// How many bytes of memory what was read takes, while it is no request yet.
  void hold(std::size_t bytes);

  /// Reads at least one byte; 0: no more will come, or `stopping`.
  boost::asio::awaitable<std::size_t> read_some(boost::asio::mutable_buffer space);
  /// Reads more of a stream that is cut into messages, unless there is no memory for it at the
  /// moment. False: no more will come, or `stopping`.
  template <class Cutter>
  boost::asio::awaitable<bool> read_into(Cutter& cutter);
  /// Reads and throws away until the client closes its side.
  boost::asio::awaitable<void> read_nothing();
  /// Runs the action. Returns whether there was memory for it; else the caller does `await_memory`
  /// and tries again, unless `stopping`.
  template <class Action>
  bool if_memory(Action action);
  /// Lets a moment pass in which others may give back memory.
  boost::asio::awaitable<void> await_memory();
  /// Says that bytes are on their way to the client until `sent`. A client that takes nothing of
  /// them for too long is slow.
  void sending();
  void sent();
  /// Writes all. Returns whether the connection still works.
  boost::asio::awaitable<bool> send(const std::vector<boost::asio::const_buffer>& buffers);
  /// Hands a request to the engine, waits for room first, and waits until it was carried out where
  /// the next request must wait for that. False: nobody takes requests any more.
  boost::asio::awaitable<bool> submit(protocol::Bytes frame, const wire::Message& message);
  /// Until `unwatch`, ends the session when the connection breaks. Nobody else notices that while
  /// nothing is read from it.
  void watch();
  void unwatch() { cancel_watch_.emit(boost::asio::cancellation_type::terminal); }
  /// Has a further coroutine run, which the session waits for at its end.
  void spawn(boost::asio::awaitable<void> coroutine);
  /// Bytes came past `read_some`.
  void received();
  /// Has the writer look again.
  void wake_writer() { wake_.cancel(); }

  /// Notes why the session ends. The first reason holds.
  void ends_for(EndReason reason, const std::string& detail = "");
  void reply_error(std::uint64_t id, wire::ErrorCode code, const Error& error);
  /// Replies to what breaks the protocol, and counts it. Returns whether the client may go on.
  bool malformed(std::uint64_t id, wire::ErrorCode code, const Error& error);
  /// Whether the client has not broken the protocol too often.
  bool may_go_on() const;

 private:
  using Duration = std::chrono::milliseconds;
  /// Is called before each part of a write, and says how much to write next.
  struct NoteProgress {
    Session& session;
    std::size_t operator()(const boost::system::error_code& failure, std::size_t written) const;
  };

  SessionHub& hub_;
  Transport transport_;
  std::unique_ptr<Dialect> dialect_;
  boost::asio::steady_timer wake_;      // cancelled when there is something to write
  boost::asio::steady_timer room_;      // cancelled when the queue may have room
  boost::asio::steady_timer changed_;   // cancelled when a change of rules may be carried out
  boost::asio::steady_timer memory_;    // until memory is asked for again
  boost::asio::steady_timer rate_;      // until the user may ask for more
  boost::asio::steady_timer deadline_;  // ends the session
  boost::asio::cancellation_signal cancel_reading_;
  boost::asio::cancellation_signal cancel_watch_;
  MemoryShare inbound_;  // what the dialect holds of unfinished messages
  MemoryShare in_hand_;  // a request that waits for room in the queue, or for its turn
  const Time opened_ = std::chrono::steady_clock::now();
  Liveness liveness_{opened_};
  LogLimit malformed_log_;
  std::uint64_t malformed_ = 0;
  std::string complaint_;  // about the last malformed message
  std::optional<EndReason> end_reason_;
  std::string end_detail_;
  std::shared_ptr<Outbox> outbox_;
  UserPtr user_;
  AccountShare account_;
  std::string name_;
  RecentRate published_{opened_}, delivered_{opened_};  // events
  bool refused_ = false;
  bool secured_ = false;  // bytes may be read and written
  bool greeted_ = false;
  bool stopping_ = false;  // no further request is taken
  bool closing_ = false;   // the outbox is closed, the deadline runs
  bool aborted_ = false;
  bool writing_ = true;  // the writer goes on
  // A change of rules is on its way. Null: none was, yet.
  std::shared_ptr<std::atomic<bool>> changing_;
  int coroutines_ = 0;

  Session(Transport transport, SessionHub& hub);

  boost::asio::awaitable<void> read();
  boost::asio::awaitable<void> write();
  /// Agrees with the client on keys, where the port speaks TLS.
  boost::asio::awaitable<void> secure();
  boost::asio::awaitable<CommandQueue::Push> push(Command& request);
  /// Waits until the rates of the user allow the request, and counts it. False: the session has
  /// stopped reading meanwhile.
  boost::asio::awaitable<bool> await_rate(const Command& request);
  /// Whether the user may ask that; replies when not. Notes in the command what the engine thread
  /// has to check.
  bool permit(const wire::Message& message, Command& request);

  bool awaits_change() const { return changing_ != nullptr && *changing_; }
  /// For a command: tells the session that it was carried out.
  std::function<void()> when_changed();
  /// Nobody is left who could say more about the end.
  void note_end();
  /// What a request needs beside its frame. False: it was answered already.
  bool prepare(Command& request, const wire::Message& message);
  /// Ends the session because a coroutine of it failed.
  void fail(std::exception_ptr failure);
  /// Whether requests of the client are still to be carried out.
  bool awaits_engine() const;
  /// Ends the session because the client let a time-out pass.
  void time_out(const Error& why);
  Liveness::Situation situation() const;
  void look_at_writing(Time now);
  void look_at_heartbeat(Time now);
  /// Ends the session at once: the connection is broken or given up.
  void abort();
  void arm(Duration limit);
  /// To be called when the outbox has something to write or was closed, or the queue has room.
  void woken();
  void report(const Outbox::Report& report);
  void ended();
};

template <class Cutter>
boost::asio::awaitable<bool> Session::read_into(Cutter& cutter) {
  std::span<std::uint8_t> space;
  if (!if_memory([&] { space = cutter.space(); })) {
    co_await await_memory();
    co_return true;
  }
  hold(cutter.held());
  if (cutter.open() == 0) message_over();
  if (cutter.open() > 0) message_begun();
  const std::size_t size = co_await read_some(boost::asio::buffer(space.data(), space.size()));
  cutter.fill(size);
  co_return size > 0;
}

template <class Action>
bool Session::if_memory(Action action) {
  bool starved = false;
  try {
    action();
  } catch (const std::bad_alloc&) {
    starved = true;
  }
  liveness_.set_starved(starved);
  return !starved;
}

}  // namespace gorgo::server
