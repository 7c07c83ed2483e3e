#include "server/session.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "protocol/batch_check.hpp"
#include "server/replies.hpp"

namespace gorgo::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
// How long a client has to read a last Error and to close its side.
constexpr std::chrono::milliseconds kLinger{2000};

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

}  // namespace

std::shared_ptr<Session> Session::make(tcp::socket socket, std::uint64_t id, SessionHub& hub) {
  std::shared_ptr<Session> session(new Session(std::move(socket), hub));
  // The engine thread may hold the outbox longer than the session lives.
  auto wake = [&io = hub.io, weak = std::weak_ptr(session)] {
    asio::post(io, [weak] {
      if (const auto alive = weak.lock()) alive->woken();
    });
  };
  session->outbox_ =
      std::make_shared<Outbox>(id, peer_of(session->socket_), hub.options.limits, std::move(wake));
  return session;
}

Session::Session(tcp::socket socket, SessionHub& hub)
    : hub_(hub), socket_(std::move(socket)), wake_(hub.io), deadline_(hub.io) {
  wake_.expires_at(asio::steady_timer::time_point::max());
  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
}

void Session::start() {
  coroutines_ = 2;
  arm(hub_.options.greeting_timeout);
  const auto end = [self = shared_from_this()](std::exception_ptr failure) {
    if (failure != nullptr) self->abort();  // out of memory
    self->ended();
  };
  asio::co_spawn(hub_.io, read(), asio::bind_cancellation_slot(cancel_reading_.slot(), end));
  asio::co_spawn(hub_.io, write(), end);
  hub_.log.debug("session opened", {{"session", id()}, {"peer", outbox_->peer()}});
}

void Session::refuse(const Error& why) {
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
  reply_error(0, wire::ErrorCode::Stopping, {"the server is stopping", "connect again later"});
  outbox_->close();
}

void Session::woken() {
  wake_.cancel();
  if (closing_ || !outbox_->closed()) return;
  closing_ = true;
  arm(hub_.options.drain_timeout);  // the client may never read what is left
}

void Session::abort() {
  aborted_ = true;
  error_code ignored;
  socket_.close(ignored);
  wake_.cancel();
  stop_reading();
}

void Session::arm(Duration limit) {
  deadline_.expires_after(limit);
  deadline_.async_wait([weak = weak_from_this()](error_code cancelled) {
    const auto self = weak.lock();
    if (!cancelled && self != nullptr) self->abort();
  });
}

void Session::ended() {
  if (--coroutines_ > 0) return;
  deadline_.cancel();
  error_code ignored;
  socket_.close(ignored);
  hub_.log.debug("session ended", {{"session", id()}, {"peer", outbox_->peer()}});
  hub_.on_end(*this);
}

void Session::reply_error(std::uint64_t id, wire::ErrorCode code, const Error& error) {
  outbox_->reply(server::error_reply(id, code, error));
}

asio::awaitable<void> Session::read() {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await serve();
  // Behind everything the client asked for: the engine closes the outbox when it gets there.
  hub_.queue.push_control({Command::Kind::disconnect, outbox_, {}});
  co_await discard();
}

asio::awaitable<void> Session::serve() {
  while (!stopping_) {
    auto frame = cutter_.next();
    if (!frame) {
      ++hub_.malformed;
      reply_error(0, wire::ErrorCode::TooLarge, frame.error());
      co_return;
    }
    if (*frame) {
      if (!co_await take(std::move(**frame))) co_return;
      continue;
    }
    const auto space = cutter_.space();
    const auto [failure, size] =
        co_await socket_.async_read_some(asio::buffer(space.data(), space.size()), kTuple);
    if (failure && !stopping_) {
      if (cutter_.open() > 0) {
        hub_.log.info("client left in the middle of a frame",
                      {{"session", id()}, {"peer", outbox_->peer()}});
      }
      co_return;
    }
    cutter_.fill(size);
  }
}

// Until the client closes its side: closing with unread bytes would reset the connection and
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
  if (!message) {
    ++hub_.malformed;
    reply_error(0, wire::ErrorCode::Malformed, message.error());
    co_return greeted_;
  }
  if (!greeted_) co_return greet(**message);
  if (!acceptable(**message, frame.size())) co_return true;
  co_return co_await submit(std::move(frame));
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
  ++hub_.malformed;
  reply_error(message.id(), wire::ErrorCode::Malformed, checked.error());
  return false;
}

asio::awaitable<bool> Session::submit(protocol::Bytes frame) {
  Command request{Command::Kind::request, outbox_, std::move(frame)};
  while (!stopping_) {
    const auto outcome = hub_.queue.push(request);
    if (outcome == CommandQueue::Push::queued) co_return true;
    if (outcome == CommandQueue::Push::closed) break;
    ++hub_.stalled_reads;
    co_await hub_.space.async_wait(kTuple);
  }
  co_return false;
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
  std::size_t bytes = 0;
  std::vector<asio::const_buffer> buffers;
  for (const auto& frame : frames) {
    buffers.push_back(asio::buffer(frame));
    bytes += frame.size();
  }
  const auto [failure, written] = co_await asio::async_write(socket_, buffers, kTuple);
  outbox_->written(bytes);
  if (failure) abort();
  co_return !failure;
}

}  // namespace gorgo::server
