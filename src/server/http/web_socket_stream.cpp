#include "server/http/web_socket_stream.hpp"

#include "server/awaiting.hpp"
#include "server/http/authorization.hpp"

namespace gorgo::server::http {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;

void prepare(WebSocketStream& stream, const ServerOptions& options) {
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

asio::awaitable<bool> accept(WebSocketStream& stream,
                             const boost::beast::http::request<PassedOnBody>& request) {
  // A browser gives up unless the server chooses one of the protocols that it offers.
  if (offers_protocol(request)) {
    stream.set_option(websocket::stream_base::decorator([](auto& response) {
      response.set(boost::beast::http::field::sec_websocket_protocol, kWebSocketProtocol);
    }));
  }
  const auto [failure] = co_await stream.async_accept(request, kTuple);
  co_return !failure;
}

}  // namespace gorgo::server::http
