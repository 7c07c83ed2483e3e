#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <string>

#include "gorgo/diagnostics.hpp"

/// What sources have in common that others connect to.
namespace gorgo::doors {

/// Has the sockets of a source read within `run` alone, so that senders wait while the engine has
/// no room.
class SocketLoop {
 public:
  using Clock = std::chrono::steady_clock;

  /// What uses it must go before the loop does.
  boost::asio::io_context& io() { return io_; }

  /// Waits for news until then. Behind the first of them only what is there already is taken, and
  /// that only as far as there is room.
  void run(Clock::time_point until, const std::function<bool()>& has_news,
           const std::function<bool()>& is_full);
  /// Ends a `run`, or the next one. Any thread may call it.
  void wake();

 private:
  boost::asio::io_context io_{1};
  std::atomic<bool> woken_ = false;
};

/// A port to which others connect by TCP.
class TcpPort {
 public:
  using Tcp = boost::asio::ip::tcp;

  /// Throws boost::system::system_error where it cannot listen.
  TcpPort(boost::asio::io_context& io, const Tcp::endpoint& endpoint,
          std::function<void(Tcp::socket)> welcome);

 private:
  void accept();

  Tcp::acceptor acceptor_;
  boost::asio::steady_timer next_accept_;
  const std::function<void(Tcp::socket)> welcome_;
};

/// Has `open` listen at the address HOST:PORT, and makes an error of the system_error that it
/// throws.
Result<void> listen_at(boost::asio::io_context& io, const std::string& address,
                       const std::function<void(const boost::asio::ip::tcp::endpoint&)>& open);

}  // namespace gorgo::doors
