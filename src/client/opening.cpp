#include <algorithm>
#include <boost/asio/connect.hpp>
#include <memory>
#include <utility>

#include "client/connection.hpp"
#include "client/replies.hpp"
#include "client/tls.hpp"

// How a connection begins.
namespace gorgo::client {
namespace {

namespace asio = boost::asio;
using asio::redirect_error;
using asio::use_awaitable;
using boost::system::error_code;

}  // namespace

/// Closes a socket, and ends a search for its address, unless it is destroyed in time.
class Watchdog {
 public:
  Watchdog(asio::io_context& io, Clock::time_point deadline, protocol::Stream::Socket& socket,
           asio::ip::tcp::resolver& resolver)
      : timer_(io, deadline) {
    timer_.async_wait([&socket, &resolver, late = late_](error_code cancelled) {
      if (cancelled) return;
      *late = true;
      error_code ignored;
      socket.close(ignored);
      resolver.cancel();
    });
  }
  ~Watchdog() { timer_.cancel(); }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// The failure, or that it was too late.
  error_code judge(const error_code& failure) const {
    return failure && *late_ ? error_code(asio::error::timed_out) : failure;
  }

 private:
  asio::steady_timer timer_;
  std::shared_ptr<bool> late_ = std::make_shared<bool>(false);
};

Coroutine<Result<void>> Connection::connect(protocol::Address to) {
  const Watchdog watchdog(io_, deadline(), stream_.socket(), resolver_);
  error_code failure;
  const auto endpoints =
      co_await resolver_.async_resolve(to.host, to.port, redirect_error(use_awaitable, failure));
  if (failure = watchdog.judge(failure); failure) {
    co_return Error{"cannot resolve " + address_ + ": " + plain(failure), "", kConnect};
  }
  co_await asio::async_connect(stream_.socket(), endpoints, redirect_error(use_awaitable, failure));
  if (failure = watchdog.judge(failure); failure) {
    co_return Error{
        "cannot connect to " + address_ + ": " + plain(failure) + "; is `gorgo serve` running?", "",
        kConnect};
  }
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), failure);
  co_return Result<void>();
}

Coroutine<Result<void>> Connection::secure(std::string host) {
  auto context = make_tls_context(options_.tls);
  if (!context) co_return context.error();
  context_.emplace(std::move(*context));
  stream_.secure(*context_);
  expect_host(stream_.tls(), host);
  const Watchdog watchdog(io_, deadline(), stream_.socket(), resolver_);
  error_code failure;
  co_await stream_.async_handshake(asio::ssl::stream_base::client,
                                   redirect_error(use_awaitable, failure));
  if (failure = watchdog.judge(failure); failure) {
    co_return handshake_error(stream_.tls(), address_, failure);
  }
  co_return Result<void>();
}

bool Connection::is_private() const {
  error_code gone;
  return stream_.is_secure() || stream_.socket().remote_endpoint(gone).address().is_loopback();
}

Coroutine<Result<void>> Connection::greet() {
  const bool says_who = !options_.token.empty() || !options_.password.empty();
  if (says_who && !is_private()) {
    co_return Error{"a token or a password would travel unencrypted", "connect with TLS",
                    "Unauthenticated"};
  }
  wire::HelloT hello;
  hello.min_version = protocol::kVersion;
  hello.max_version = protocol::kVersion;
  hello.client = options_.name;
  hello.user = options_.user;
  hello.password = options_.password;
  hello.token = options_.token;
  hello.heartbeats = options_.heartbeats;
  // What takes a server long comes later, and until then nothing shows that it lives.
  const auto reply = co_await ask(std::move(hello), options_.timeout);
  if (!reply) co_return reply.error();
  const wire::Message& message = **protocol::open_frame(*reply);
  const auto* welcome = message.body_as_Welcome();
  if (welcome == nullptr) co_return unexpected(message);
  limits_ = {welcome->max_frame(), welcome->max_rows()};
  if (welcome->heartbeat_ms() > 0) {
    patience_ = std::chrono::milliseconds(welcome->heartbeat_ms()) +
                std::chrono::milliseconds(welcome->heartbeat_timeout_ms());
  }
  co_return Result<void>();
}

Coroutine<Result<void>> Connection::open(std::string address) {
  address_ = std::move(address);
  const auto self = shared_from_this();
  const auto parts = protocol::parse_address(address_);
  if (!parts) co_return parts.error();
  auto done = co_await connect(*parts);
  if (done && options_.tls.enabled) done = co_await secure(parts->host);
  if (!done) co_return done;
  start_reading();
  co_return co_await greet();
}

}  // namespace gorgo::client
