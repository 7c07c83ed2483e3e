#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace gorgo {

/// Passes connections on to a server, and breaks each at a byte of its own: the first one behind as
/// many bytes as the first of `cuts` says, and so on. The connections behind the last cut live.
class CuttingProxy {
 public:
  enum class Side { client, server };  ///< whose bytes are counted

  CuttingProxy(const std::string& server, Side side, std::vector<std::size_t> cuts)
      : side_(side), cuts_(std::move(cuts)) {
    const auto port = static_cast<std::uint16_t>(std::stoi(server.substr(server.rfind(':') + 1)));
    server_ = {boost::asio::ip::address_v4::loopback(), port};
    boost::asio::co_spawn(io_, accept(), boost::asio::detached);
    thread_ = std::thread([this] { io_.run(); });
  }
  ~CuttingProxy() {
    io_.stop();
    thread_.join();
  }

  std::string address() const {
    return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  std::size_t connections() const { return connections_; }

 private:
  using Tcp = boost::asio::ip::tcp;
  struct Pair {
    Tcp::socket client, server;
    std::size_t left;  // bytes until the cut
    void close() {
      boost::system::error_code ignored;
      client.close(ignored);
      server.close(ignored);
    }
  };

  boost::asio::io_context io_;
  Tcp::acceptor acceptor_{io_, {boost::asio::ip::address_v4::loopback(), 0}};
  Tcp::endpoint server_;
  const Side side_;
  const std::vector<std::size_t> cuts_;
  std::atomic<std::size_t> connections_ = 0;
  std::thread thread_;

  boost::asio::awaitable<void> accept() {
    while (true) {
      auto client = co_await acceptor_.async_accept(boost::asio::use_awaitable);
      const std::size_t number = connections_++;
      Tcp::socket server(io_);
      boost::system::error_code failure;
      co_await server.async_connect(
          server_, boost::asio::redirect_error(boost::asio::use_awaitable, failure));
      if (failure) continue;
      const std::size_t left = number < cuts_.size() ? cuts_[number] : SIZE_MAX;
      const auto pair = std::make_shared<Pair>(Pair{std::move(client), std::move(server), left});
      boost::asio::co_spawn(io_, pass(pair, Side::client), boost::asio::detached);
      boost::asio::co_spawn(io_, pass(pair, Side::server), boost::asio::detached);
    }
  }

  boost::asio::awaitable<void> pass(std::shared_ptr<Pair> pair, Side side) {
    Tcp::socket& from = side == Side::client ? pair->client : pair->server;
    Tcp::socket& to = side == Side::client ? pair->server : pair->client;
    std::array<char, 4096> bytes;
    boost::system::error_code failure;
    auto token = boost::asio::redirect_error(boost::asio::use_awaitable, failure);
    while (true) {
      std::size_t size = co_await from.async_read_some(boost::asio::buffer(bytes), token);
      if (failure) break;
      bool cut = false;
      if (side == side_) {
        cut = size >= pair->left;
        size = std::min(size, pair->left);
        if (pair->left != SIZE_MAX) pair->left -= size;
      }
      co_await boost::asio::async_write(to, boost::asio::buffer(bytes.data(), size), token);
      if (cut || failure) break;
    }
    pair->close();
  }
};

}  // namespace gorgo
