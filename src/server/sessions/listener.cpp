#include "server/sessions/listener.hpp"

#include <chrono>
#include <new>
#include <utility>

#include "base/open_files.hpp"
#include "protocol/address.hpp"
#include "server/endpoint_text.hpp"
#include "server/security/exposure.hpp"
#include "server/sessions/awaiting.hpp"

namespace gorgo::server {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

Listener::Listener(asio::io_context& io, Log& log, Port port, Open open)
    : log_(log), port_(std::move(port)), open_(std::move(open)), acceptor_(io), retry_(io) {}

Result<void> Listener::check_exposure(const tcp::endpoint& endpoint,
                                      const ServerOptions& options) const {
  const std::string danger = danger_of(options, port_.option == "--trex");
  if (danger.empty() || endpoint.address().is_loopback()) return {};
  return Error{"will not listen on " + port_.address +
                   ": others than this machine can reach it, and " + danger,
               "choose a loopback address with " + port_.option +
                   ", name certificates and users (docs/security.md), or say twice that you mean "
                   "it: --insecure and [security] insecure = true"};
}

Result<void> Listener::check_exposure(const ServerOptions& options) const {
  return check_exposure(acceptor_.local_endpoint(), options);
}

Result<tcp::endpoint> Listener::find_endpoint(const ServerOptions& options) {
  const auto& text = port_.address;
  const auto parts = protocol::parse_listen_address(text);
  if (!parts) return parts.error();
  error_code failure;
  tcp::resolver resolver(acceptor_.get_executor());
  const auto found = resolver.resolve(parts->host, parts->port, tcp::resolver::passive, failure);
  if (failure) return Error{"cannot resolve " + text + ": " + plain(failure), ""};
  const tcp::endpoint endpoint = *found.begin();
  if (auto safe = check_exposure(endpoint, options); !safe) return safe.error();
  return endpoint;
}

Result<void> Listener::listen(const ServerOptions& options) {
  const auto endpoint = find_endpoint(options);
  if (!endpoint) return endpoint.error();
  error_code failure;
  acceptor_.open(endpoint->protocol(), failure);
  if (!failure) acceptor_.set_option(tcp::acceptor::reuse_address(true), failure);
  if (!failure) acceptor_.non_blocking(true, failure);
  if (!failure) acceptor_.bind(*endpoint, failure);
  if (!failure) acceptor_.listen(asio::socket_base::max_listen_connections, failure);
  if (!failure) return {};
  return Error{"cannot listen on " + port_.address + ": " + plain(failure),
               "choose another address with " + port_.option + "; port 0 takes a free one"};
}

std::string Listener::address() const { return to_string(acceptor_.local_endpoint()); }

asio::awaitable<void> Listener::run() {
  while (acceptor_.is_open()) {
    const auto [failed] = co_await acceptor_.async_wait(tcp::acceptor::wait_read, kTuple);
    if (!acceptor_.is_open()) co_return;
    const error_code failure = failed ? failed : accept_one();
    if (!failure || failure == asio::error::would_block) continue;
    tell_of(failure);
    retry_.expires_after(std::chrono::milliseconds(100));
    co_await retry_.async_wait(kTuple);
  }
}

void Listener::tell_of(const error_code& failure) {
  const auto times = failed_log_.note();
  if (!times) return;
  const bool has_too_many = failure == boost::system::errc::too_many_files_open ||
                            failure == boost::system::errc::too_many_files_open_in_system;
  const Error error{plain(failure), has_too_many ? kRaiseOpenFiles : ""};
  log_.error("cannot accept connections", {{"times", *times}, {"error", error.to_string()}});
}

// An accept that Asio carries out by itself allocates outside of the coroutine, which would end
// with it when there is no memory.
error_code Listener::accept_one() {
  error_code failure;
  try {
    tcp::socket socket = acceptor_.accept(failure);
    if (!failure) open_(std::move(socket), port_.dialect);
  } catch (const std::bad_alloc&) {
    failure = asio::error::no_memory;
  }
  return failure;
}

void Listener::close() {
  error_code ignored;
  acceptor_.close(ignored);
  retry_.cancel();
}

}  // namespace gorgo::server
