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

#include "server/sessions/dialect.hpp"
#include "server/sessions/end_note.hpp"
#include "server/sessions/liveness.hpp"
#include "server/sessions/outbox.hpp"
#include "server/sessions/recent_rate.hpp"
#include "server/sessions/request_gate.hpp"
#include "server/sessions/session_hub.hpp"
#include "server/sessions/transport.hpp"

namespace gorgo::server {

/// One connection, whatever it speaks: its outbox, its lane of the queue, its memory, its time-outs
/// and its end. What it speaks is its dialect. A reader, which has the dialect turn bytes into
/// requests, and a writer, which has it empty the outbox, are coroutines on the I/O thread. Owned
/// by its coroutines and by the hub's owner.
class Session : public std::enable_shared_from_this<Session> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static std::shared_ptr<Session> make(Transport transport, std::uint64_t id, SessionHub& hub,
                                       const DialectMaker& dialect);

  /// `newcomer`: counts the connection until the client is known.
  void start(NetworkCounts::Share newcomer = {});
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
  /// Reads nothing more and ends once what the engine owes is sent.
  void leave(EndReason reason, const std::string& why);
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
  /// For those who may outlive the session.
  const std::shared_ptr<Outbox>& shared_outbox() const { return outbox_; }
  /// Who the client is, and the way of its requests to the engine.
  RequestGate& gate() { return gate_; }
  Transport& transport() { return transport_; }
  /// Whether no further request is taken.
  bool stopping() const { return stopping_; }
  /// Whether nothing more can be read or written.
  bool aborted() const { return aborted_; }
  /// Whether what the dialect has to say is still written.
  bool writing() const { return writing_; }

  /// What the client calls itself.
  void set_name(std::string name) { name_ = std::move(name); }

  /// The client has said what it must say first. Until then only the greeting time-out counts.
  void greeted();
  /// Has the session end unless `greeted` is called before so much time has passed.
  void await_greeting(std::chrono::milliseconds limit);
  bool is_greeted() const { return greeted_; }
  /// The client has said who it is, or nobody asks.
  void known() { newcomer_.leave(); }
  bool is_newcomer() const { return newcomer_.is_counted(); }
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

  /// Why the session ends.
  EndNote& end() { return end_; }
  void reply_error(std::uint64_t id, wire::ErrorCode code, const Error& error);
  /// Counts what breaks the protocol. The log names it, and so does what is kept of the connection
  /// when it ends.
  void complain(const Error& error);
  /// Complains, and replies. Returns whether the client may go on.
  bool malformed(std::uint64_t id, wire::ErrorCode code, const Error& error);

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
  boost::asio::steady_timer memory_;    // until memory is asked for again
  boost::asio::steady_timer deadline_;  // ends the session
  boost::asio::cancellation_signal cancel_reading_;
  boost::asio::cancellation_signal cancel_watch_;
  MemoryShare inbound_;  // what the dialect holds of unfinished messages
  const Time opened_ = std::chrono::steady_clock::now();
  Liveness liveness_{opened_};
  EndNote end_;
  LogLimit malformed_log_;
  std::shared_ptr<Outbox> outbox_;
  RequestGate gate_;
  NetworkCounts::Share newcomer_;
  std::string name_;
  RecentRate delivered_{opened_};  // events
  bool refused_ = false;
  bool secured_ = false;  // bytes may be read and written
  bool greeted_ = false;
  bool stopping_ = false;  // no further request is taken
  bool closing_ = false;   // the outbox is closed, the deadline runs
  bool aborted_ = false;
  bool writing_ = true;  // the writer goes on
  int coroutines_ = 0;

  Session(Transport transport, SessionHub& hub);

  boost::asio::awaitable<void> read();
  boost::asio::awaitable<void> write();
  /// Agrees with the client on keys, where the port speaks TLS.
  boost::asio::awaitable<void> secure();
  /// Ends the session because a coroutine of it failed.
  void fail(std::exception_ptr failure);
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
  class Completion;
  void ended();
  void conclude();
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
