#include "server/transport.hpp"

#include "server/endpoint_text.hpp"

namespace gorgo::server {

namespace asio = boost::asio;
using boost::system::error_code;

Transport::Transport(Socket socket) : socket_(std::move(socket)) {
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
}

std::string Transport::peer() const {
  error_code failure;
  const auto peer = socket_.remote_endpoint(failure);
  return failure ? "gone" : to_string(peer);
}

asio::ip::tcp::endpoint Transport::local() const {
  error_code gone;
  return socket_.local_endpoint(gone);
}

bool Transport::is_local() const {
  error_code failure;
  const auto peer = socket_.remote_endpoint(failure);
  return !failure && peer.address().is_loopback();
}

bool Transport::is_broken() const {
  error_code failure;
  socket_.remote_endpoint(failure);
  return static_cast<bool>(failure);
}

void Transport::shutdown_send() {
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Transport::close() {
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace gorgo::server
