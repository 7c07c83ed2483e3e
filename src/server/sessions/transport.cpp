#include "server/sessions/transport.hpp"

#include "server/endpoint_text.hpp"
#include "server/security/tls.hpp"

namespace gorgo::server {

namespace asio = boost::asio;
using boost::system::error_code;

Transport::Transport(Socket socket, std::shared_ptr<asio::ssl::context> tls)
    : tls_(std::move(tls)), stream_(std::move(socket)) {
  error_code ignored;
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  stream_.socket().set_option(asio::socket_base::keep_alive(true), ignored);
  if (tls_ != nullptr) stream_.secure(*tls_);
}

std::string Transport::peer() const {
  error_code failure;
  const auto peer = stream_.socket().remote_endpoint(failure);
  return failure ? "gone" : to_string(peer);
}

asio::ip::address Transport::peer_address() const {
  error_code gone;
  return stream_.socket().remote_endpoint(gone).address();
}

std::optional<std::string> Transport::certificate_name() {
  if (!stream_.is_secure()) return std::nullopt;
  return common_name_of(stream_.tls());
}

asio::ip::tcp::endpoint Transport::local() const {
  error_code gone;
  return stream_.socket().local_endpoint(gone);
}

bool Transport::is_local() const {
  error_code failure;
  const auto peer = stream_.socket().remote_endpoint(failure);
  return !failure && peer.address().is_loopback();
}

bool Transport::is_broken() const {
  error_code failure;
  stream_.socket().remote_endpoint(failure);
  return static_cast<bool>(failure);
}

void Transport::close() {
  error_code ignored;
  stream_.socket().close(ignored);
}

}  // namespace gorgo::server
