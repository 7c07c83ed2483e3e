#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "protocol/stream.hpp"

namespace gorgo::server {

/// How the bytes of one connection travel, and the only place that knows it: sessions and dialects
/// see a stream of bytes (an AsyncStream in the sense of Boost.Beast). Belongs to the I/O thread.
class Transport {
 public:
  using Socket = protocol::Stream::Socket;
  using executor_type = Socket::executor_type;

  /// With a context, bytes travel under TLS.
  Transport(Socket socket, std::shared_ptr<boost::asio::ssl::context> tls);

  executor_type get_executor() { return stream_.get_executor(); }
  /// "HOST:PORT" of the client, or "gone".
  std::string peer() const;
  /// The address of the client; the unspecified one when it is gone.
  boost::asio::ip::address peer_address() const;
  /// The common name in the certificate that the client has shown; empty: it does not have exactly
  /// one. Nothing: the client showed no certificate.
  std::optional<std::string> certificate_name();
  /// The address and port where the client reached the server.
  boost::asio::ip::tcp::endpoint local() const;
  /// Whether the client is on this machine.
  bool is_local() const;
  /// Whether the connection is broken.
  bool is_broken() const;
  /// Whether bytes travel under TLS. Then `async_handshake` comes before everything else.
  bool is_secure() const { return stream_.is_secure(); }

  template <class Token>
  auto async_handshake(Token&& token) {
    return stream_.async_handshake(boost::asio::ssl::stream_base::server,
                                   std::forward<Token>(token));
  }
  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return stream_.async_read_some(buffers, std::forward<Token>(token));
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return stream_.async_write_some(buffers, std::forward<Token>(token));
  }
  /// Waits until the connection breaks, or something urgent comes.
  template <class Token>
  auto async_wait_for_error(Token&& token) {
    return stream_.socket().async_wait(Socket::wait_error, std::forward<Token>(token));
  }
  /// Says that nothing more will be written. Under TLS it completes when the client has said the
  /// same.
  template <class Token>
  auto async_finish(Token&& token) {
    return stream_.async_finish(std::forward<Token>(token));
  }
  void close();

 private:
  std::shared_ptr<boost::asio::ssl::context> tls_;  // outlives the stream
  protocol::Stream stream_;
};

}  // namespace gorgo::server
