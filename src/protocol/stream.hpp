#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <memory>
#include <utility>

namespace gorgo::protocol {

/// The bytes of a TCP connection, in the clear or under TLS (an AsyncStream in the sense of
/// Boost.Beast). It may be moved while nothing is read or written. One thread at a time.
class Stream {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Tls = boost::asio::ssl::stream<Socket&>;
  using executor_type = Socket::executor_type;

  explicit Stream(Socket socket) : socket_(std::make_unique<Socket>(std::move(socket))) {}

  executor_type get_executor() { return socket_->get_executor(); }
  Socket& socket() { return *socket_; }
  const Socket& socket() const { return *socket_; }

  /// From here on bytes travel under TLS; `async_handshake` must follow. Precondition: nothing was
  /// read or written.
  void secure(boost::asio::ssl::context& context) {
    tls_ = std::make_unique<Tls>(*socket_, context);
  }
  bool is_secure() const { return tls_ != nullptr; }
  /// Precondition: `is_secure`.
  Tls& tls() const { return *tls_; }

  template <class Token>
  auto async_handshake(boost::asio::ssl::stream_base::handshake_type type, Token&& token) {
    return tls_->async_handshake(type, std::forward<Token>(token));
  }
  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    const auto begin = [this](auto handler, const Buffers& space) {
      if (tls_ != nullptr) {
        tls_->async_read_some(space, std::move(handler));
      } else {
        socket_->async_read_some(space, std::move(handler));
      }
    };
    return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
        begin, token, buffers);
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    const auto begin = [this](auto handler, const Buffers& bytes) {
      if (tls_ != nullptr) {
        tls_->async_write_some(bytes, std::move(handler));
      } else {
        socket_->async_write_some(bytes, std::move(handler));
      }
    };
    return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
        begin, token, buffers);
  }
  /// Says that nothing more will be written. Under TLS it completes when the other side has said
  /// the same.
  template <class Token>
  auto async_finish(Token&& token) {
    const auto begin = [this](auto handler) {
      if (tls_ != nullptr) {
        tls_->async_shutdown(std::move(handler));
        return;
      }
      boost::system::error_code failure;
      socket_->shutdown(Socket::shutdown_send, failure);
      boost::asio::post(socket_->get_executor(),
                        [done = std::move(handler), failure]() mutable { done(failure); });
    };
    return boost::asio::async_initiate<Token, void(boost::system::error_code)>(begin, token);
  }

 private:
  std::unique_ptr<Socket> socket_;
  std::unique_ptr<Tls> tls_;  // null: bytes travel in the clear
};

}  // namespace gorgo::protocol
