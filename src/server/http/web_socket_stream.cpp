#include "server/http/web_socket_stream.hpp"

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <utility>

#include "server/http/authorization.hpp"
#include "server/http/message.hpp"
#include "server/options.hpp"
#include "server/sessions/awaiting.hpp"
#include "server/sessions/transport.hpp"

namespace gorgo::server::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

/// What Beast asks of the connection below a WebSocket. Beast composes the answer to the request by
/// synchronous writes, which are collected here to be sent together: its asynchronous way would
/// compile all that sends bytes once for each of eight kinds of buffers.
class WebSocketStream::Connection {
 public:
  using executor_type = Transport::executor_type;

  explicit Connection(Transport& transport) : transport_(transport) {}

  executor_type get_executor() { return transport_.get_executor(); }
  Transport& transport() { return transport_; }
  const std::string& collected() const { return collected_; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return transport_.async_read_some(buffers, std::forward<Token>(token));
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return transport_.async_write_some(buffers, std::forward<Token>(token));
  }
  template <class Buffers>
  std::size_t write_some(const Buffers& buffers, beast::error_code& failure) {
    failure = {};
    const std::string bytes = beast::buffers_to_string(buffers);
    collected_ += bytes;
    return bytes.size();
  }
  template <class Buffers>
  std::size_t write_some(const Buffers& buffers) {
    beast::error_code none;
    return write_some(buffers, none);
  }
  /// Nothing is read in this way, but Beast asks for it.
  template <class Buffers>
  std::size_t read_some(const Buffers&, beast::error_code& failure) {
    failure = asio::error::operation_not_supported;
    return 0;
  }
  template <class Buffers>
  std::size_t read_some(const Buffers&) {
    return 0;
  }

  friend void beast_close_socket(Connection& connection) { connection.transport_.close(); }
  // The session says that nothing more will be written, once everything is.
  friend void teardown(beast::role_type, Connection&, beast::error_code& failure) { failure = {}; }
  template <class Handler>
  friend void async_teardown(beast::role_type, Connection& connection, Handler&& handler) {
    asio::post(connection.get_executor(),
               beast::bind_front_handler(std::forward<Handler>(handler), beast::error_code()));
  }

 private:
  Transport& transport_;
  std::string collected_;
};

namespace {

/// What Beast would say otherwise is no JSON.
Response refused_upgrade(const beast::error_code& why) {
  const bool is_version = why == websocket::error::bad_sec_version;
  Response response =
      response_of(Problem{is_version ? 426u : 400u,
                          {"this is no handshake of a WebSocket: " + why.message(),
                           "send the headers of RFC 6455, with Sec-WebSocket-Version: 13"}});
  if (is_version) response.headers.emplace_back("Sec-WebSocket-Version", "13");
  return response;
}

}  // namespace

struct WebSocketStream::Impl {
  Session& session;
  websocket::stream<Connection> stream;
  beast::flat_buffer message;
};

WebSocketStream::WebSocketStream(Session& session)
    : impl_(new Impl{session, websocket::stream<Connection>(session.transport()), {}}) {
  auto& stream = impl_->stream;
  const ServerOptions& options = session.hub().options;
  stream.auto_fragment(false);
  stream.text(true);
  stream.read_message_max(options.http.max_message_bytes);
  // A client that shows no sign of life within this time has gone. Beast pings when half of it has
  // passed.
  const Limits& limits = options.limits;
  const auto silence = limits.heartbeat.count() == 0 ? websocket::stream_base::none()
                                                     : limits.heartbeat + limits.heartbeat_timeout;
  stream.set_option(websocket::stream_base::timeout{options.greeting_timeout, silence,
                                                    limits.heartbeat.count() > 0});
}

WebSocketStream::~WebSocketStream() = default;

asio::awaitable<bool> WebSocketStream::accept(const beast::http::request<PassedOnBody>& request) {
  auto& stream = impl_->stream;
  // A browser gives up unless the server chooses one of the protocols that it offers.
  if (offers_protocol(request)) {
    stream.set_option(websocket::stream_base::decorator([](auto& response) {
      response.set(beast::http::field::sec_websocket_protocol, kWebSocketProtocol);
    }));
  }
  beast::error_code refusal;
  stream.accept(request, refusal);
  Connection& connection = stream.next_layer();
  const std::string answer =
      refusal ? to_bytes(refused_upgrade(refusal), false, false) : connection.collected();
  impl_->session.sending();
  const auto [failure, size] =
      co_await asio::async_write(connection.transport(), asio::buffer(answer), kTuple);
  impl_->session.sent();
  co_return !failure && !refusal;
}

asio::awaitable<bool> WebSocketStream::read() {
  const auto [failure, size] = co_await impl_->stream.async_read(impl_->message, kTuple);
  if (failure == websocket::error::message_too_big) {
    const auto limit = impl_->session.hub().options.http.max_message_bytes;
    impl_->session.complain(
        {"a message has more than http.max_message_bytes, " + std::to_string(limit),
         "send it in parts, or raise http.max_message_bytes"});
  }
  if (failure) co_return false;
  impl_->session.received();
  co_return true;
}

std::string WebSocketStream::take() {
  std::string text = beast::buffers_to_string(impl_->message.data());
  impl_->message.clear();
  return text;
}

void WebSocketStream::drop() { impl_->message.clear(); }

std::size_t WebSocketStream::capacity() const { return impl_->message.capacity(); }

asio::awaitable<bool> WebSocketStream::write(std::string_view text, std::string_view rest) {
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(text), asio::buffer(rest)};
  impl_->session.sending();
  const auto [failure, size] = co_await impl_->stream.async_write(buffers, kTuple);
  impl_->session.sent();
  co_return !failure;
}

asio::awaitable<void> WebSocketStream::close() {
  const websocket::close_reason reason(websocket::close_code::going_away);
  co_await impl_->stream.async_close(reason, kTuple);
}

}  // namespace gorgo::server::http
