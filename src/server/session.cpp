#include "server/session.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "protocol/batch_check.hpp"
#include "server/awaiting.hpp"
#include "server/replies.hpp"

namespace gorgo::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// How long a client has to read a last Error and to close its side.
constexpr std::chrono::milliseconds kLinger{2000};
// How long after memory was asked for in vain it is asked for again.
constexpr std::chrono::milliseconds kMemoryPause{20};
// A client that works sends no malformed message; this bounds what another one costs.
constexpr std::uint64_t kMostMalformed = 1000;

std::string peer_of(const tcp::socket& socket) {
  error_code failure;
  const auto peer = socket.remote_endpoint(failure);
  if (failure) return "gone";
  return peer.address().to_string() + ":" + std::to_string(peer.port());
}

bool is_request(wire::Body kind) {
  return (kind >= wire::Body::Hello && kind <= wire::Body::ListRules) || kind == wire::Body::Tick ||
         kind == wire::Body::ListTypes || kind == wire::Body::Pin || kind == wire::Body::AskWhy ||
         kind == wire::Body::Trace || kind == wire::Body::ListDevices;
}

/// Null for a message without events.
const wire::Batch* batch_of(const wire::Message& message) {
  if (const auto* publish = message.body_as_Publish()) return publish->batch();
  const auto* trace = message.body_as_Trace();
  return trace == nullptr ? nullptr : trace->batch();
}

/// Whether there was memory for the action.
template <class Action>
bool if_memory(Action action) {
  try {
    action();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

std::shared_ptr<Session> Session::make(tcp::socket socket, std::uint64_t id, SessionHub& hub) {
  std::shared_ptr<Session> session(new Session(std::move(socket), hub));
  // The engine thread may hold the outbox longer than the session lives.
  auto wake = [&io = hub.io, weak = std::weak_ptr(session)] {
    asio::post(io, [weak] {
      if (const auto alive = weak.lock()) alive->woken();
    });
  };
  session->outbox_ = std::make_shared<Outbox>(id, peer_of(session->socket_), hub.options.limits,
                                              hub.totals, std::move(wake));
  return session;
}

Session::Session(tcp::socket socket, SessionHub& hub)
    : hub_(hub),
      socket_(std::move(socket)),
      wake_(hub.io),
      room_(hub.io),
      changed_(hub.io),
      memory_(hub.io),
      deadline_(hub.io),
      inbound_(hub.totals.memory),
      in_hand_(hub.totals.memory) {
  wake_.expires_at(asio::steady_timer::time_point::max());
  room_.expires_at(asio::steady_timer::time_point::max());
  changed_.expires_at(asio::steady_timer::time_point::max());
  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
}

void Session::start() {
  coroutines_ = 2;
  arm(hub_.options.greeting_timeout);
  const auto end = [self = shared_from_this()](std::exception_ptr failure) {
    if (failure != nullptr) self->fail(failure);
    self->ended();
  };
  asio::co_spawn(hub_.io, read(), asio::bind_cancellation_slot(cancel_reading_.slot(), end));
  asio::co_spawn(hub_.io, write(), end);
  hub_.log.debug("session opened", {{"session", id()}, {"peer", peer()}});
}

void Session::refuse(const Error& why) {
  refused_ = true;
  stopping_ = true;
  reply_error(0, wire::ErrorCode::Overloaded, why);
  outbox_->close();
  start();
}

void Session::stop_reading() {
  stopping_ = true;
  cancel_reading_.emit(asio::cancellation_type::terminal);
}

void Session::finish() {
  outbox_->finish(
      error_reply(0, wire::ErrorCode::Stopping, {"the server is stopping", "connect again later"}));
}

void Session::give_up() {
  outbox_->give_up();
  abort();
}

void Session::overload(const Error& why) {
  hub_.dropped_requests += hub_.queue.drop(id(), CommandQueue::Drop::all);
  if (closing_) return give_up();
  outbox_->overload(why);
  stop_reading();
}

std::size_t Session::memory() const {
  return inbound_.bytes() + in_hand_.bytes() + outbox_->bytes() + hub_.queue.bytes(id());
}

bool Session::awaits_engine() const { return in_hand_.bytes() > 0 || hub_.queue.bytes(id()) > 0; }

void Session::look(Time now) {
  // Whoever woke the session may have found no memory to do so.
  if (outbox_->take_missed_wake()) woken();
  if (!greeted_ || stopping_) return;
  const auto text = [](Duration time) { return std::to_string(time.count()) + " ms"; };
  const auto frame = hub_.options.frame_timeout, idle = hub_.options.idle_timeout;
  if (begun_ && starved_ && now - *begun_ > frame) {
    time_out(kShortOfMemory);
  } else if (begun_ && now - *begun_ > frame) {
    time_out({"a frame was not complete within " + text(frame),
              "send it in one go, or raise frame_timeout_ms"});
  } else if (idle.count() > 0 && now - active_ > idle && !awaits_engine()) {
    time_out({"nothing came or went for " + text(idle),
              "send a request now and then, or raise idle_timeout_ms"});
  }
}

void Session::time_out(const Error& why) {
  hub_.log.info("client timed out", {{"session", id()}, {"peer", peer()}, {"error", why.message}});
  reply_error(0, wire::ErrorCode::Timeout, why);
  stop_reading();
}

void Session::report(const Outbox::Report& report) {
  if (report.lost_rows > 0) {
    hub_.log.warning("events for a client were lost",
                     {{"session", id()}, {"peer", peer()}, {"rows", report.lost_rows}});
  }
  if (report.overflowed) {
    hub_.log.warning("slow consumer disconnected",
                     {{"session", id()},
                      {"peer", peer()},
                      {"outbound_bytes", hub_.options.limits.outbound_bytes}});
  }
}

void Session::woken() {
  wake_.cancel();
  room_.cancel();
  changed_.cancel();
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
  }
  abort();
}

void Session::abort() {
  aborted_ = true;
  const auto dropped = hub_.queue.drop(id(), CommandQueue::Drop::replies_only);
  if (dropped > 0) {
    hub_.dropped_requests += dropped;
    hub_.log.info("requests of a client that has gone are dropped",
                  {{"session", id()}, {"peer", peer()}, {"requests", dropped}});
  }
  error_code ignored;
  socket_.close(ignored);
  wake_.cancel();
  stop_reading();
}

void Session::arm(Duration limit) {
  deadline_.expires_after(limit);
  deadline_.async_wait([weak = weak_from_this()](error_code cancelled) {
    const auto self = weak.lock();
    if (!cancelled && self != nullptr) self->give_up();
  });
}

void Session::ended() {
  if (--coroutines_ > 0) return;
  deadline_.cancel();
  error_code ignored;
  socket_.close(ignored);
  report(outbox_->report(true));
  outbox_->abandon();  // the engine may hold it until it gets to what the client sent last
  if (const auto count = malformed_log_.take_unsaid()) {
    hub_.log.warning("malformed messages",
                     {{"session", id()}, {"peer", peer()}, {"messages", count}});
  }
  hub_.log.debug("session ended", {{"session", id()}, {"peer", peer()}});
  hub_.on_end(*this);
}

void Session::reply_error(std::uint64_t id, wire::ErrorCode code, const Error& error) {
  outbox_->reply(server::error_reply(id, code, error));
}

bool Session::malformed(std::uint64_t id, wire::ErrorCode code, const Error& error) {
  ++hub_.malformed;
  if (const auto count = malformed_log_.note()) {
    hub_.log.warning("malformed messages", {{"session", this->id()},
                                            {"peer", peer()},
                                            {"messages", *count},
                                            {"error", error.message}});
  }
  reply_error(id, code, error);
  return ++malformed_ < kMostMalformed;
}

asio::awaitable<void> Session::read() {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await serve();
  cutter_ = protocol::FrameCutter(protocol::kMaxGreeting);
  inbound_.resize(0);
  begun_.reset();
  // This stands behind everything that the client asked for: the engine closes the outbox when it
  // gets there.
  hub_.queue.push_control({Command::Kind::disconnect, outbox_});
  co_await discard();
}

asio::awaitable<void> Session::serve() {
  while (!stopping_) {
    std::optional<Result<std::optional<protocol::Bytes>>> cut;
    starved_ = !if_memory([&] { cut = cutter_.next(); });
    if (starved_) {
      co_await await_memory();
      continue;
    }
    auto& frame = *cut;
    if (!frame) {
      malformed(0, wire::ErrorCode::TooLarge, frame.error());
      co_return;
    }
    if (*frame) {
      begun_.reset();
      if (!co_await take(std::move(**frame))) co_return;
    } else if (!co_await read_more()) {
      co_return;
    }
  }
}

asio::awaitable<bool> Session::read_more() {
  std::span<std::uint8_t> space;
  starved_ = !if_memory([&] { space = cutter_.space(); });
  if (starved_) {
    co_await await_memory();
    co_return true;
  }
  inbound_.resize(cutter_.held());
  hub_.totals.memory.check();
  if (cutter_.open() == 0) begun_.reset();
  if (cutter_.open() > 0 && !begun_) begun_ = std::chrono::steady_clock::now();
  const auto [failure, size] =
      co_await socket_.async_read_some(asio::buffer(space.data(), space.size()), kTuple);
  active_ = std::chrono::steady_clock::now();
  if (failure && !stopping_) {
    if (cutter_.open() > 0) {
      hub_.log.info("client left in the middle of a frame", {{"session", id()}, {"peer", peer()}});
    }
    // A client that has only closed its sending side still gets its replies.
    if (failure != asio::error::eof) abort();
    co_return false;
  }
  cutter_.fill(size);
  co_return true;
}

asio::awaitable<void> Session::await_memory() {
  if (!begun_) begun_ = std::chrono::steady_clock::now();
  memory_.expires_after(kMemoryPause);
  co_await memory_.async_wait(kTuple);
}

// Reads until the client closes its side: closing with unread bytes would reset the connection and
// could take replies with it that are on their way.
asio::awaitable<void> Session::discard() {
  std::array<std::uint8_t, 4096> bytes;
  while (!aborted_) {
    const auto [failure, size] = co_await socket_.async_read_some(asio::buffer(bytes), kTuple);
    const bool goes_on = !failure || (failure == asio::error::operation_aborted && !aborted_);
    if (!goes_on) co_return;
  }
}

asio::awaitable<bool> Session::take(protocol::Bytes frame) {
  const auto message = protocol::open_frame(frame);
  if (!message) co_return malformed(0, wire::ErrorCode::Malformed, message.error()) && greeted_;
  if (!greeted_) co_return greet(**message);
  if (!acceptable(**message, frame.size())) co_return malformed_ < kMostMalformed;
  const Work work = work_of(**message, frame.size());
  const bool changes = changes_rules((*message)->body_type());
  co_return co_await submit(std::move(frame), work, changes);
}

bool Session::greet(const wire::Message& message) {
  const auto* hello = message.body_as_Hello();
  if (hello == nullptr) {
    reply_error(message.id(), wire::ErrorCode::NotGreeted,
                {"the first message must be a Hello", "docs/protocol.md"});
    return false;
  }
  if (hello->min_version() > protocol::kVersion || hello->max_version() < protocol::kVersion) {
    reply_error(message.id(), wire::ErrorCode::Version,
                {"the client speaks versions " + std::to_string(hello->min_version()) + " to " +
                     std::to_string(hello->max_version()) + ", this server speaks version " +
                     std::to_string(protocol::kVersion),
                 "use a client and a server of the same release"});
    return false;
  }
  greeted_ = true;
  deadline_.cancel();
  cutter_.set_max_frame(hub_.options.limits.max_frame);
  wire::WelcomeT welcome;
  welcome.version = protocol::kVersion;
  welcome.server = "gorgo";
  welcome.max_frame = static_cast<std::uint32_t>(hub_.options.limits.max_frame);
  welcome.max_rows = hub_.options.limits.max_rows;
  outbox_->reply(protocol::encode(message.id(), welcome));
  return true;
}

bool Session::acceptable(const wire::Message& message, std::size_t frame_size) {
  const auto kind = message.body_type();
  if (kind == wire::Body::Hello) {
    reply_error(message.id(), wire::ErrorCode::NotGreeted, {"a second Hello", ""});
    return false;
  }
  if (!is_request(kind)) {
    reply_error(message.id(), wire::ErrorCode::UnknownMessage,
                {"a " + std::string(protocol::name_of(kind)) + " is not a request", ""});
    return false;
  }
  const auto* batch = batch_of(message);
  if (batch == nullptr) return true;
  const auto checked = protocol::check_batch(*batch, frame_size, hub_.options.limits.max_rows);
  if (checked) return true;
  malformed(message.id(), wire::ErrorCode::Malformed, checked.error());
  return false;
}

asio::awaitable<bool> Session::submit(protocol::Bytes frame, const Work& work, bool changes_rules) {
  Command request{Command::Kind::request, outbox_, std::move(frame), work};
  if (changes_rules) request.done = when_changed();
  auto outcome = hub_.queue.push(request);
  if (outcome == CommandQueue::Push::full) {
    ++hub_.stalled_reads;
    in_hand_.resize(request.frame.size());
    watch();
    while (outcome == CommandQueue::Push::full && !stopping_) {
      co_await room_.async_wait(kTuple);
      outcome = hub_.queue.push(request);
    }
    unwatch();
    in_hand_.resize(0);
    active_ = std::chrono::steady_clock::now();
  }
  // The requests of a session are carried out in order, also behind a text that is checked.
  const bool queued = outcome == CommandQueue::Push::queued;
  if (queued && awaits_change()) watch();
  while (queued && awaits_change() && !stopping_) co_await changed_.async_wait(kTuple);
  unwatch();
  co_return queued;
}

void Session::watch() {
  const auto broken = [weak = weak_from_this()](error_code cancelled) {
    const auto self = weak.lock();
    if (cancelled || self == nullptr) return;
    // Urgent data end the wait, too, although the connection is not broken.
    error_code unconnected;
    self->socket_.remote_endpoint(unconnected);
    if (unconnected) self->abort();
  };
  socket_.async_wait(tcp::socket::wait_error,
                     asio::bind_cancellation_slot(cancel_watch_.slot(), broken));
}

std::function<void()> Session::when_changed() {
  changing_ = std::make_shared<std::atomic<bool>>(true);
  return [changing = changing_, outbox = outbox_] {
    *changing = false;
    outbox->wake();
  };
}

asio::awaitable<void> Session::write() {
  while (!aborted_) {
    const bool closed = outbox_->closed();  // asked first: what was pushed before is taken below
    const auto frames = outbox_->take();
    if (!frames.empty()) {
      if (!co_await write(frames)) break;
    } else if (closed) {
      break;
    } else {
      co_await wake_.async_wait(kTuple);
    }
  }
  outbox_->close();
  if (!aborted_) {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    arm(kLinger);
  }
  stop_reading();
}

asio::awaitable<bool> Session::write(const std::vector<protocol::Bytes>& frames) {
  std::vector<asio::const_buffer> buffers;
  for (const auto& frame : frames) buffers.push_back(asio::buffer(frame));
  const auto [failure, written] = co_await asio::async_write(socket_, buffers, kTuple);
  active_ = std::chrono::steady_clock::now();
  outbox_->written();
  if (failure) abort();
  co_return !failure;
}

}  // namespace gorgo::server
