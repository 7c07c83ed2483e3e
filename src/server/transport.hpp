#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <utility>

namespace gorgo::server {

/// How the bytes of one connection travel, and the only place that knows it: sessions and dialects
/// see a stream of bytes (an AsyncStream in the sense of Boost.Beast). Belongs to the I/O thread.
class Transport {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using executor_type = Socket::executor_type;

  explicit Transport(Socket socket);

  executor_type get_executor() { return socket_.get_executor(); }
  /// "HOST:PORT" of the client, or "gone".
  std::string peer() const;
  /// The address and port where the client reached the server.
  boost::asio::ip::tcp::endpoint local() const;
  /// Whether the client is on this machine.
  bool is_local() const;
  /// Whether the connection is broken.
  bool is_broken() const;

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return socket_.async_read_some(buffers, std::forward<Token>(token));
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return socket_.async_write_some(buffers, std::forward<Token>(token));
  }
  /// Waits until the connection breaks, or something urgent comes.
  template <class Token>
  auto async_wait_for_error(Token&& token) {
    return socket_.async_wait(Socket::wait_error, std::forward<Token>(token));
  }
  /// Says that nothing more will be written.
  void shutdown_send();
  void close();

 private:
  Socket socket_;
};

}  // namespace gorgo::server
