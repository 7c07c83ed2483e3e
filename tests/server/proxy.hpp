#pragma once

#include <array>
#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <thread>

namespace gorgo::server {

/// Passes the bytes of one connection on in both directions, until it is frozen: then both sides
/// have a connection that is open and brings nothing, as when a network between them fails.
class Proxy {
 public:
  explicit Proxy(const std::string& server) {
    const auto colon = server.rfind(':');
    boost::asio::ip::tcp::resolver resolver(io_);
    boost::asio::connect(to_server_,
                         resolver.resolve(server.substr(0, colon), server.substr(colon + 1)));
    thread_ = std::thread([this] {
      acceptor_.accept(to_client_);
      pass(to_client_, to_server_, from_client_);
      pass(to_server_, to_client_, from_server_);
      io_.run();
    });
  }
  ~Proxy() {
    io_.stop();
    thread_.join();
  }

  std::string address() const {
    return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  /// Passes on nothing more, not even that a side has closed.
  void freeze() { frozen_ = true; }
  bool server_has_closed() const { return server_has_closed_; }
  std::size_t bytes_from_client() const { return bytes_from_client_; }

 private:
  using Socket = boost::asio::ip::tcp::socket;
  using Bytes = std::array<char, 16384>;

  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_{io_, {boost::asio::ip::address_v4::loopback(), 0}};
  Socket to_client_{io_}, to_server_{io_};
  Bytes from_client_{}, from_server_{};
  std::atomic<bool> frozen_ = false, server_has_closed_ = false;
  std::atomic<std::size_t> bytes_from_client_ = 0;
  std::thread thread_;

  void pass(Socket& from, Socket& to, Bytes& bytes) {
    from.async_read_some(
        boost::asio::buffer(bytes), [this, &from, &to, &bytes](auto failure, std::size_t size) {
          if (failure) {
            if (&from == &to_server_) server_has_closed_ = true;
            return;
          }
          if (&from == &to_client_) bytes_from_client_ += size;
          boost::system::error_code ignored;
          if (!frozen_) boost::asio::write(to, boost::asio::buffer(bytes.data(), size), ignored);
          pass(from, to, bytes);
        });
  }
};

}  // namespace gorgo::server
