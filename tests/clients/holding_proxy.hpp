#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>

namespace gorgo {

/// Passes one connection at a time on to a server. It holds back what the client sends behind so
/// many bytes, throws away what the server says, or ends the connection, as a test wants it.
class HoldingProxy {
 public:
  /// `may_pass`: bytes of the client's, until `release`.
  explicit HoldingProxy(const std::string& server, std::size_t may_pass = SIZE_MAX)
      : may_pass_(may_pass) {
    const auto port = static_cast<std::uint16_t>(std::stoi(server.substr(server.rfind(':') + 1)));
    server_ = {boost::asio::ip::address_v4::loopback(), port};
    boost::asio::co_spawn(io_, accept(), boost::asio::detached);
    thread_ = std::thread([this] { io_.run(); });
  }
  ~HoldingProxy() {
    io_.stop();
    thread_.join();
  }

  std::string address() const {
    return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  /// What the server has said on this connection.
  std::size_t server_bytes() const { return server_bytes_; }

  /// Throws away what the server says from now on.
  void mute() {
    now([this] { connection_->muted = true; });
  }
  /// Ends the connection. Of the next one so many bytes of the client's pass, until `release`.
  void cut(std::size_t may_pass) {
    now([this, may_pass] {
      may_pass_ = may_pass;
      server_bytes_ = 0;
      connection_->close();
    });
  }
  /// Passes on what it has held back, and what follows.
  void release() {
    now([this] {
      connection_->may_pass = SIZE_MAX;
      connection_->released.cancel();
    });
  }

 private:
  using Tcp = boost::asio::ip::tcp;
  using Bytes = std::array<char, 4096>;
  struct Connection {
    Tcp::socket client, server;
    boost::asio::steady_timer released;  // cancelled when more may pass, and at the end
    std::size_t may_pass;
    bool muted = false;
    bool closed = false;
    void close() {
      closed = true;
      boost::system::error_code ignored;
      client.close(ignored);
      server.close(ignored);
      released.cancel();
    }
  };

  boost::asio::io_context io_;
  Tcp::acceptor acceptor_{io_, {boost::asio::ip::address_v4::loopback(), 0}};
  Tcp::endpoint server_;
  std::shared_ptr<Connection> connection_;
  std::size_t may_pass_;
  std::atomic<std::size_t> server_bytes_ = 0;
  std::thread thread_;

  /// Does it on the proxy's thread, and returns when it is done.
  template <class Work>
  void now(Work work) {
    std::promise<void> done;
    boost::asio::post(io_, [&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

  boost::asio::awaitable<void> accept() {
    while (true) {
      auto client = co_await acceptor_.async_accept(boost::asio::use_awaitable);
      Tcp::socket server(io_);
      co_await server.async_connect(server_, boost::asio::use_awaitable);
      boost::asio::steady_timer released(io_, boost::asio::steady_timer::time_point::max());
      connection_ = std::make_shared<Connection>(
          Connection{std::move(client), std::move(server), std::move(released), may_pass_});
      boost::asio::co_spawn(io_, pass_client(connection_), boost::asio::detached);
      boost::asio::co_spawn(io_, pass_server(connection_), boost::asio::detached);
    }
  }

  boost::asio::awaitable<void> pass_client(std::shared_ptr<Connection> connection) {
    Bytes bytes;
    boost::system::error_code failure;
    auto token = boost::asio::redirect_error(boost::asio::use_awaitable, failure);
    while (!connection->closed) {
      const std::size_t size =
          co_await connection->client.async_read_some(boost::asio::buffer(bytes), token);
      if (failure) break;
      for (std::size_t begin = 0; begin < size && !connection->closed;) {
        const std::size_t passing = std::min(size - begin, connection->may_pass);
        if (passing == 0) {
          co_await connection->released.async_wait(token);
          continue;
        }
        co_await boost::asio::async_write(
            connection->server, boost::asio::buffer(bytes.data() + begin, passing), token);
        begin += passing;
        if (connection->may_pass != SIZE_MAX) connection->may_pass -= passing;
      }
    }
    connection->close();
  }

  boost::asio::awaitable<void> pass_server(std::shared_ptr<Connection> connection) {
    Bytes bytes;
    boost::system::error_code failure;
    auto token = boost::asio::redirect_error(boost::asio::use_awaitable, failure);
    while (!connection->closed) {
      const std::size_t size =
          co_await connection->server.async_read_some(boost::asio::buffer(bytes), token);
      if (failure) break;
      if (connection->muted) continue;
      server_bytes_ += size;
      co_await boost::asio::async_write(connection->client, boost::asio::buffer(bytes.data(), size),
                                        token);
    }
    connection->close();
  }
};

}  // namespace gorgo
