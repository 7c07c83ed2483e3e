#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>

#include "server/dialect.hpp"
#include "server/log.hpp"
#include "server/options.hpp"

namespace gorgo::server {

/// A port that clients of one dialect connect to. Belongs to the I/O thread.
class Listener {
 public:
  struct Door {
    std::string says;     ///< what stands before the address where it is told: "http on"
    std::string option;   ///< the option that chooses another address: "--http"
    std::string address;  ///< HOST:PORT as configured
    DialectMaker dialect;
  };
  /// Takes a new connection.
  using Open =
      std::function<void(boost::asio::ip::tcp::socket socket, const DialectMaker& dialect)>;

  Listener(boost::asio::io_context& io, Log& log, Door door, Open open);

  /// Opens the port. A public address is refused unless `allow_public`.
  Result<void> listen(bool allow_public);
  /// "http on 127.0.0.1:45123", with the actual port. Precondition: `listen` succeeded.
  std::string line() const { return door_.says + " " + address(); }
  std::string address() const;
  const std::string& option() const { return door_.option; }
  /// Accepts connections until `close`.
  boost::asio::awaitable<void> run();
  void close();

 private:
  Log& log_;
  const Door door_;
  const Open open_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer retry_;  // between failing accepts

  boost::system::error_code accept_one();
};

}  // namespace gorgo::server
