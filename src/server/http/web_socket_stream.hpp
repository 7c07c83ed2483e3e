#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/beast/http/message.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "server/http/request_reader.hpp"
#include "server/sessions/session.hpp"

namespace gorgo::server::http {

/// The messages of a session whose connection became a WebSocket. At most one read and one write at
/// a time; a read must not be cancelled, because Beast cannot go on writing then. Belongs to the
/// I/O thread.
class WebSocketStream {
 public:
  explicit WebSocketStream(Session& session);
  ~WebSocketStream();

  /// Answers the request that asked for it. Returns whether it is one.
  boost::asio::awaitable<bool> accept(const boost::beast::http::request<PassedOnBody>& request);
  /// Waits for a message, which is kept until it is taken. Returns false when none will come.
  boost::asio::awaitable<bool> read();
  /// The message that was read. None is kept afterwards.
  std::string take();
  void drop();
  /// Memory for a message that is kept.
  std::size_t capacity() const;
  /// Sends a message, which are both texts in a row; the caller keeps them. Returns whether the
  /// connection works.
  boost::asio::awaitable<bool> write(std::string_view text, std::string_view rest = {});
  /// Says that the server is going away.
  boost::asio::awaitable<void> close();

 private:
  class Connection;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gorgo::server::http
