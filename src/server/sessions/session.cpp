#include "server/sessions/session.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "server/endpoint_text.hpp"
#include "server/replies.hpp"
#include "server/sessions/awaiting.hpp"

namespace gorgo::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// How long after memory was asked for in vain it is asked for again.
constexpr std::chrono::milliseconds kMemoryPause{20};
// So many bytes are offered to the system at a time.
constexpr std::size_t kMostAtOnce = std::size_t{4} << 20;

std::uint64_t rows_of(const std::vector<OutFrame>& frames) {
  std::uint64_t rows = 0;
  for (const OutFrame& frame : frames) {
    if (const auto* delivery = std::get_if<ClientDelivery>(&frame)) rows += delivery->rows;
  }
  return rows;
}

Session::Time moment() { return std::chrono::steady_clock::now(); }

}  // namespace

std::shared_ptr<Session> Session::make(Transport transport, std::uint64_t id, SessionHub& hub,
                                       const DialectMaker& dialect) {
  std::shared_ptr<Session> session(new Session(std::move(transport), hub));
  // The engine thread may hold the outbox longer than the session lives.
  auto wake = [&io = hub.io, weak = std::weak_ptr(session)] {
    asio::post(io, [weak] {
      if (const auto alive = weak.lock()) alive->woken();
    });
  };
  session->outbox_ = std::make_shared<Outbox>(id, session->transport_.peer(), hub.options.limits,
                                              hub.totals, std::move(wake));
  session->dialect_ = dialect(*session);
  return session;
}

Session::Session(Transport transport, SessionHub& hub)
    : hub_(hub),
      transport_(std::move(transport)),
      wake_(hub.io),
      memory_(hub.io),
      deadline_(hub.io),
      inbound_(hub.totals.memory),
      gate_(*this) {
  wake_.expires_at(asio::steady_timer::time_point::max());
}

/// Counts the end of a coroutine, also where Asio has no memory to say that it has ended: then it
/// only destroys this.
class Session::Completion {
 public:
  explicit Completion(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  Completion(Completion&&) = default;
  Completion& operator=(Completion&&) = delete;
  ~Completion() {
    if (session_ != nullptr) session_->ended();
  }

  void operator()(std::exception_ptr failure) {
    const Completion ends(std::move(session_));  // also where telling of the failure fails
    if (failure == nullptr) return;
    try {
      ends.session_->fail(failure);
    } catch (const std::bad_alloc&) {  // nobody is told why
    }
    ends.session_->abort();
  }

 private:
  std::shared_ptr<Session> session_;
};

void Session::start(NetworkCounts::Share newcomer) {
  newcomer_ = std::move(newcomer);
  coroutines_ = 2;
  arm(hub_.options.greeting_timeout);
  asio::co_spawn(
      hub_.io, read(),
      asio::bind_cancellation_slot(cancel_reading_.slot(), Completion(shared_from_this())));
  asio::co_spawn(hub_.io, write(), Completion(shared_from_this()));
  hub_.log.debug("session opened", {{"session", id()}, {"peer", peer()}});
}

void Session::spawn(asio::awaitable<void> coroutine) {
  ++coroutines_;
  asio::co_spawn(hub_.io, std::move(coroutine), Completion(shared_from_this()));
}

void Session::refuse(const Error& why) {
  refused_ = true;
  end_.give(EndReason::refused, why.message);
  stopping_ = true;
  reply_error(0, wire::ErrorCode::Overloaded, why);
  outbox_->close();
  start();
}

void Session::tell_of_stop() {
  if (!hub_.stops_at || !greeted_ || stopping_) return;
  const auto left = *hub_.stops_at - std::chrono::steady_clock::now();
  outbox_->notice(leaving_notice(
      std::max(std::chrono::duration_cast<std::chrono::milliseconds>(left), Duration(0))));
}

void Session::stop_reading() {
  stopping_ = true;
  cancel_reading_.emit(asio::cancellation_type::terminal);
}

void Session::finish() {
  end_.give(EndReason::stopped);
  outbox_->finish(
      error_reply(0, wire::ErrorCode::Stopping, {"the server is stopping", "connect again later"}));
}

void Session::turn_away(EndReason reason, wire::ErrorCode code, const Error& why) {
  if (stopping_) return;
  end_.give(reason, why.message);
  reply_error(0, code, why);
  stop_reading();
}

void Session::leave(EndReason reason, const std::string& why) {
  if (stopping_) return;
  end_.give(reason, why);
  stop_reading();
}

void Session::give_up() {
  outbox_->give_up();
  abort();
}

void Session::overload(const Error& why) {
  end_.give(EndReason::memory, why.message);
  hub_.dropped_requests += hub_.queue.drop(id(), CommandQueue::Drop::all);
  if (closing_) return give_up();
  outbox_->overload(why);
  stop_reading();
}

std::size_t Session::memory() const {
  return inbound_.bytes() + gate_.bytes() + outbox_->bytes() + hub_.queue.bytes(id());
}

ConnectionInfo Session::info() const {
  const std::chrono::duration<double> open = std::chrono::steady_clock::now() - opened_;
  return {.id = id(),
          .peer = peer(),
          .dialect = dialect_->name(),
          .seconds = open.count(),
          .bytes = memory(),
          .name = name_,
          .user = gate_.user() == nullptr ? "" : gate_.user()->name,
          .backlog = outbox_->bytes(),
          .subscriptions = outbox_->subscriptions(),
          .published = gate_.published().total(),
          .delivered = delivered_.total(),
          .published_per_second = gate_.published().per_second(),
          .delivered_per_second = delivered_.per_second()};
}

void Session::look(Time now) {
  // Whoever woke the session may have found no memory to do so.
  if (outbox_->take_missed_wake()) woken();
  outbox_->look(now);
  gate_.look(now);
  delivered_.look(now);
  if (!greeted_ || stopping_) return;
  if (const auto why = liveness_.late(hub_.options, situation(), now)) time_out(*why);
  look_at_writing(now);
  if (!stopping_) look_at_heartbeat(now);
}

Liveness::Situation Session::situation() const {
  const bool awaits_engine = gate_.is_waiting() || hub_.queue.bytes(id()) > 0;
  return {.awaits_engine = awaits_engine,
          .is_deaf = awaits_engine || gate_.awaits_change(),
          .is_backed_up = outbox_->bytes() > 0,
          .heartbeat = dialect_->heartbeat()};
}

void Session::look_at_writing(Time now) {
  const auto& limits = hub_.options.limits;
  if (!liveness_.is_stalled(limits, now) || closing_ || outbox_->may_wait()) return;
  end_.give(EndReason::slow, "it took nothing within limits.stalled_ms");
  overload({"the client has taken nothing for " + std::to_string(limits.stalled.count()) + " ms",
            "read what comes, or raise limits.stalled_ms"});
}

void Session::look_at_heartbeat(Time now) {
  const Limits& limits = hub_.options.limits;
  switch (liveness_.beat(limits, situation(), now)) {
    case Liveness::Beat::none:
      return;
    case Liveness::Beat::ping:
      return dialect_->ping();
    case Liveness::Beat::dead:
      return time_out(
          {"no answer to a Ping within " + std::to_string(limits.heartbeat_timeout.count()) + " ms",
           "answer each Ping with a Pong, or raise limits.heartbeat_timeout_ms"});
  }
}

void Session::time_out(const Error& why) {
  hub_.log.info("client timed out", {{"session", id()}, {"peer", peer()}, {"error", why.message}});
  end_.give(EndReason::timed_out, why.message);
  reply_error(0, wire::ErrorCode::Timeout, why);
  stop_reading();
}

void Session::report(const Outbox::Report& report) {
  if (report.lost_rows > 0) {
    hub_.log.warning("events for a client were lost",
                     {{"session", id()}, {"peer", peer()}, {"rows", report.lost_rows}});
  }
  if (report.withdrawn) end_.give(EndReason::withdrawn, report.why);
  if (report.overflowed) {
    end_.give(EndReason::slow, "more than limits.outbound_bytes waited for it");
    hub_.log.warning("slow consumer disconnected",
                     {{"session", id()}, {"peer", peer()}, {"error", report.why}});
  }
}

void Session::woken() {
  wake_.cancel();
  gate_.woken();
  report(outbox_->report());
  if (closing_ || !outbox_->closed()) return;
  closing_ = true;
  arm(hub_.options.drain_timeout);  // the client may never read what is left
}

void Session::fail(std::exception_ptr failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    hub_.log.warning("a session failed",
                     {{"session", id()}, {"peer", peer()}, {"error", error.what()}});
    end_.give(EndReason::failed, error.what());
  }
}

void Session::abort() {
  aborted_ = true;
  end_.give(EndReason::broken);
  transport_.close();
  wake_.cancel();
  stop_reading();
  const auto dropped = hub_.queue.drop(id(), CommandQueue::Drop::replies_only);
  if (dropped > 0) {
    hub_.dropped_requests += dropped;
    hub_.log.info("requests of a client that has gone are dropped",
                  {{"session", id()}, {"peer", peer()}, {"requests", dropped}});
  }
}

void Session::arm(Duration limit) {
  deadline_.expires_after(limit);
  deadline_.async_wait([weak = weak_from_this()](error_code cancelled) {
    const auto self = weak.lock();
    if (cancelled || self == nullptr) return;
    if (self->closing_) {
      self->end_.settle(EndReason::undrained);
    } else {
      self->end_.give(EndReason::timed_out, "nothing was heard from it in time");
    }
    self->give_up();
  });
}

/// Whatever is not told for want of memory, the session is over.
void Session::ended() {
  if (--coroutines_ > 0) return;
  try {
    conclude();
  } catch (const std::bad_alloc&) {
    transport_.close();
  }
  hub_.on_end(*this);
}

void Session::conclude() {
  gate_.leave();
  newcomer_.leave();
  deadline_.cancel();
  transport_.close();
  report(outbox_->report(true));
  outbox_->abandon();  // the engine may hold it until it gets to what the client sent last
  if (const auto count = malformed_log_.take_unsaid()) {
    hub_.log.warning("malformed messages",
                     {{"session", id()}, {"peer", peer()}, {"messages", count}});
  }
  hub_.log.debug("session ended", {{"session", id()}, {"peer", peer()}});
  end_.settle(EndReason::completed);
  hub_.closed.add({info(), end_.reason(), end_.detail()});
  hub_.news.note({info(), false, std::string(name_of(end_.reason()))});
}

void Session::reply_error(std::uint64_t id, wire::ErrorCode code, const Error& error) {
  outbox_->reply(server::error_reply(id, code, error));
}

void Session::complain(const Error& error) {
  ++hub_.malformed;
  // Whoever connects anew for each of them is a new client each time.
  LogLimit& log = greeted_ && !is_newcomer() ? malformed_log_ : hub_.stranger_log;
  if (const auto count = log.note()) {
    hub_.log.warning(
        "malformed messages",
        {{"session", id()}, {"peer", peer()}, {"messages", *count}, {"error", error.message}});
  }
  end_.complain(error.message);
}

bool Session::malformed(std::uint64_t id, wire::ErrorCode code, const Error& error) {
  complain(error);
  reply_error(id, code, error);
  return end_.may_go_on();
}

void Session::greeted() {
  greeted_ = true;
  if (!hub_.doorkeeper.asks()) known();
  if (!closing_) deadline_.cancel();
}

void Session::await_greeting(std::chrono::milliseconds limit) {
  if (!closing_) arm(limit);
}

void Session::message_begun() { liveness_.message_begun(moment()); }

void Session::hold(std::size_t bytes) {
  inbound_.resize(bytes);
  hub_.totals.memory.check();
}

asio::awaitable<void> Session::read() {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await secure();
  if (!stopping_) co_await dialect_->read();
  inbound_.resize(0);
  message_over();
  // This stands behind everything that the client asked for: the engine closes the outbox when it
  // gets there.
  hub_.queue.push_control({Command::Kind::disconnect, outbox_});
  // While the server starts nobody carries that out, and the client has asked for nothing that
  // would be.
  if (hub_.starts != nullptr) outbox_->close();
  co_await dialect_->discard();
}

asio::awaitable<void> Session::secure() {
  if (transport_.is_secure()) {
    const auto [failure] = co_await transport_.async_handshake(kTuple);
    if (failure) {
      const bool server_stops = stopping_ && !aborted_;
      if (!server_stops) ++hub_.failed_handshakes;
      if (const auto count = hub_.handshake_log.note(server_stops ? 0 : 1)) {
        hub_.log.warning("TLS handshakes failed",
                         {{"handshakes", *count},
                          {"peer", peer()},
                          {"error", aborted_ ? "not complete in time" : plain(failure)}});
      }
      end_.give(EndReason::handshake, aborted_ ? "not complete in time" : plain(failure));
      abort();
      co_return;
    }
  }
  secured_ = true;
  wake_.cancel();
}

asio::awaitable<std::size_t> Session::read_some(asio::mutable_buffer space) {
  const auto [failure, size] = co_await transport_.async_read_some(space, kTuple);
  received();
  if (!failure) co_return size;
  if (!stopping_) {
    if (liveness_.in_message() && !is_newcomer()) {
      hub_.log.info("client left in the middle of a message",
                    {{"session", id()}, {"peer", peer()}});
    }
    // A client that has only closed its sending side still gets its replies.
    if (failure != asio::error::eof) abort();
    end_.give(EndReason::client_left);
  }
  co_return 0;
}

asio::awaitable<void> Session::await_memory() {
  message_begun();
  memory_.expires_after(kMemoryPause);
  co_await memory_.async_wait(kTuple);
}

asio::awaitable<void> Session::read_nothing() {
  std::array<std::uint8_t, 4096> bytes;
  while (!aborted_) {
    const auto [failure, size] = co_await transport_.async_read_some(asio::buffer(bytes), kTuple);
    const bool goes_on = !failure || (failure == asio::error::operation_aborted && !aborted_);
    if (!goes_on) co_return;
  }
}

void Session::watch() {
  // What has happened before the wait begins does not end it.
  if (transport_.is_broken()) return abort();
  const auto broken = [weak = weak_from_this()](error_code cancelled) {
    const auto self = weak.lock();
    if (cancelled || self == nullptr) return;
    // Urgent data end the wait, too, although the connection is not broken.
    if (self->transport_.is_broken()) self->abort();
  };
  transport_.async_wait_for_error(asio::bind_cancellation_slot(cancel_watch_.slot(), broken));
}

asio::awaitable<void> Session::write() {
  while (!aborted_ && !secured_) co_await wake_.async_wait(kTuple);
  while (!aborted_) {
    const bool closed = outbox_->closed();  // asked first: what was pushed before is taken below
    const auto frames = outbox_->take();
    if (!frames.empty() || dialect_->has_output()) {
      const bool works = co_await dialect_->write(frames);
      outbox_->written();
      if (outbox_->take_wants_more()) hub_.queue.push_control({Command::Kind::feed, outbox_});
      if (!works) break;
      delivered_.add(rows_of(frames));
    } else if (closed) {
      break;
    } else {
      co_await wake_.async_wait(kTuple);
    }
  }
  outbox_->close();
  if (!aborted_) co_await dialect_->finish();
  writing_ = false;
  if (!aborted_) {
    closing_ = true;  // also where this comes before `woken` has seen it
    arm(hub_.options.linger);
    stop_reading();
    co_await transport_.async_finish(kTuple);
    co_return;
  }
  stop_reading();
}

void Session::received() { liveness_.received(moment()); }

void Session::sending() { liveness_.sending(moment()); }

void Session::sent() { liveness_.sent(moment()); }

std::size_t Session::NoteProgress::operator()(const error_code& failure, std::size_t) const {
  session.sending();
  return failure ? 0 : kMostAtOnce;
}

asio::awaitable<bool> Session::send(const std::vector<asio::const_buffer>& buffers) {
  const NoteProgress note_progress{*this};
  const auto [failure, written] =
      co_await asio::async_write(transport_, buffers, note_progress, kTuple);
  sent();
  if (failure) abort();
  co_return !failure;
}

}  // namespace gorgo::server
