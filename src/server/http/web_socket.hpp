#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/beast/http/message.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "server/http/delivery_text.hpp"
#include "server/http/request_reader.hpp"
#include "server/sessions/session.hpp"

namespace gorgo::server::http {

/// A connection that has become a WebSocket: JSON messages in both directions (docs/http.md).
/// Requests may follow one another without waiting for replies. Belongs to the I/O thread.
class WebSocket {
 public:
  /// `session` must outlive it.
  WebSocket(Session& session, std::shared_ptr<Texts> texts);
  ~WebSocket();

  using Request = boost::beast::http::request<PassedOnBody>;
  /// Answers the request that asked for it. Returns whether it is one. `most` is set where the
  /// request asks for a sample of what it subscribes to.
  boost::asio::awaitable<bool> accept(const Request& request, std::optional<std::uint32_t> most);
  /// Takes commands until the client closes, or `Session::stopping`.
  boost::asio::awaitable<void> read();
  /// Writes replies and deliveries. Returns whether the connection still works.
  boost::asio::awaitable<bool> write(std::span<const OutFrame> frames);
  /// Whether nothing more can be read.
  bool has_ended() const;
  /// Whether it sends samples, so that it has to say at times what it leaves out.
  bool is_sampling() const;
  /// Has the next `write` say what was left out so far.
  void tell_left_out();
  /// Whether `write` has something to say without frames.
  bool has_output() const;
  /// Tells the client that this is the end.
  boost::asio::awaitable<void> finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gorgo::server::http
