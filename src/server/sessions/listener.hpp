#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>

#include "server/log.hpp"
#include "server/log_limit.hpp"
#include "server/options.hpp"
#include "server/sessions/dialect.hpp"

namespace gorgo::server {

/// A port that clients of one dialect connect to. Belongs to the I/O thread.
class Listener {
 public:
  struct Port {
    std::string says;     ///< what stands before the address where it is told: "http on"
    std::string option;   ///< the option that chooses another address: "--http"
    std::string address;  ///< HOST:PORT as configured
    DialectMaker dialect;
  };
  /// Takes a new connection.
  using Open =
      std::function<void(boost::asio::ip::tcp::socket socket, const DialectMaker& dialect)>;

  Listener(boost::asio::io_context& io, Log& log, Port port, Open open);

  /// Opens the port. An address that others can reach is refused where that is dangerous
  /// (`danger_of`).
  Result<void> listen(const ServerOptions& options);
  /// The address that `listen` would listen on, unless that would refuse it; opens nothing.
  Result<boost::asio::ip::tcp::endpoint> find_endpoint(const ServerOptions& options);
  /// Whether the open port may stay so with these options.
  Result<void> check_exposure(const ServerOptions& options) const;
  /// "http on 127.0.0.1:45123", with the actual port. Precondition: `listen` succeeded.
  std::string line() const { return port_.says + " " + address(); }
  std::string address() const;
  /// Whether the port is open.
  bool is_open() const { return acceptor_.is_open(); }
  const std::string& option() const { return port_.option; }
  /// Accepts connections until `close`.
  boost::asio::awaitable<void> run();
  void close();

 private:
  Log& log_;
  const Port port_;
  const Open open_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer retry_;  // between failing accepts
  LogLimit failed_log_;

  boost::system::error_code accept_one();
  void tell_of(const boost::system::error_code& failure);
  Result<void> check_exposure(const boost::asio::ip::tcp::endpoint& endpoint,
                              const ServerOptions& options) const;
};

}  // namespace gorgo::server
