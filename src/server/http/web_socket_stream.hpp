#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <utility>

#include "server/http/request_reader.hpp"
#include "server/options.hpp"
#include "server/transport.hpp"

namespace gorgo::server {

// What Beast asks of a stream beside reading and writing.
inline void beast_close_socket(Transport& transport) { transport.close(); }

// The session says that nothing more will be written, once everything is.
inline void teardown(boost::beast::role_type, Transport&, boost::beast::error_code& failure) {
  failure = {};
}

template <class Handler>
void async_teardown(boost::beast::role_type, Transport& transport, Handler&& handler) {
  boost::asio::post(
      transport.get_executor(),
      boost::beast::bind_front_handler(std::forward<Handler>(handler), boost::beast::error_code()));
}

}  // namespace gorgo::server

namespace gorgo::server::http {

using WebSocketStream = boost::beast::websocket::stream<Transport&>;

/// Sets limits and time-outs of a connection that becomes a WebSocket.
void prepare(WebSocketStream& stream, const ServerOptions& options);

/// Answers the request that asked for it. Returns whether it is one.
boost::asio::awaitable<bool> accept(WebSocketStream& stream,
                                    const boost::beast::http::request<PassedOnBody>& request);

}  // namespace gorgo::server::http
