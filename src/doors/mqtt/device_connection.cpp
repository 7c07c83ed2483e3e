#include "doors/mqtt/device_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace gorgo::doors::mqtt {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kChunk = 2048;                        // bytes that are read at a time
constexpr std::size_t kMostWaiting = std::size_t{1} << 20;  // bytes that a device does not take

}  // namespace

DeviceConnection::DeviceConnection(protocol::Stream::Socket socket)
    : stream_(std::move(socket)), cutter_(kMostGreeting, kChunk) {
  error_code gone, ignored;
  const auto peer = stream_.socket().remote_endpoint(gone);
  if (!gone) address_ = peer.address();
  peer_ = gone ? "gone" : address_.to_string() + ":" + std::to_string(peer.port());
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  stream_.socket().set_option(asio::socket_base::keep_alive(true), ignored);
}

void DeviceConnection::start(asio::ssl::context* tls, std::function<void()> on_bytes,
                             std::function<void()> on_end) {
  on_bytes_ = std::move(on_bytes);
  on_end_ = std::move(on_end);
  if (tls == nullptr) return read();
  stream_.secure(*tls);
  stream_.async_handshake(asio::ssl::stream_base::server,
                          [self = shared_from_this()](error_code failure) {
                            if (failure) return self->end();
                            self->read();
                            self->write();
                          });
}

void DeviceConnection::read() {
  if (!is_open_) return;
  const auto space = cutter_.space();
  stream_.async_read_some(asio::buffer(space.data, space.size),
                          [self = shared_from_this()](error_code failure, std::size_t size) {
                            if (!self->is_open_) return;
                            if (failure) return self->end();
                            self->cutter_.fill(size);
                            self->on_bytes_();
                            self->read();
                          });
}

void DeviceConnection::send(std::string_view bytes) {
  if (!is_open_ || bytes.empty()) return;
  waiting_ += bytes;
  if (sending_.empty()) return write();
  if (waiting_.size() <= kMostWaiting) return;
  // Not at once, since the caller may be looking at all devices.
  asio::post(stream_.get_executor(), [self = shared_from_this()] { self->end(); });
}

void DeviceConnection::write() {
  if (!is_open_ || !sending_.empty() || waiting_.empty()) return;
  sending_ = std::exchange(waiting_, {});
  asio::async_write(stream_, asio::buffer(sending_),
                    [self = shared_from_this()](error_code failure, std::size_t) {
                      self->sending_.clear();
                      if (failure) return self->end();
                      self->write();
                    });
}

void DeviceConnection::close(std::string_view bytes) {
  if (!is_open_) return;
  send(bytes);
  is_open_ = false;
  error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.socket().cancel(ignored);
}

void DeviceConnection::end() {
  if (!is_open_) return;
  close();
  on_end_();
}

}  // namespace gorgo::doors::mqtt
