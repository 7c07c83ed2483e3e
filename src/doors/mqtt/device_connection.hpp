#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "doors/mqtt/wire.hpp"
#include "gorgo/diagnostics.hpp"
#include "protocol/stream.hpp"

namespace gorgo::doors::mqtt {

/// The bytes of a device that has connected, in the clear or by TLS. Lives until its last operation
/// has ended. One thread, that which runs its executor.
class DeviceConnection : public std::enable_shared_from_this<DeviceConnection> {
 public:
  /// No packet of a device is larger.
  static constexpr std::size_t kMostPacket = std::size_t{1} << 20;
  /// Nor is the first one, by which nobody knows yet who sends it.
  static constexpr std::size_t kMostGreeting = std::size_t{64} << 10;

  explicit DeviceConnection(protocol::Stream::Socket socket);

  /// Calls `on_bytes` whenever bytes have come, and `on_end` once when the other side has gone, has
  /// broken the connection, or does not take what is sent. Neither is called behind `close`.
  /// `tls`: null: in the clear.
  void start(boost::asio::ssl::context* tls, std::function<void()> on_bytes,
             std::function<void()> on_end);
  /// The next packet that has come, as of `Cutter`.
  Result<std::optional<Frame>> next() { return cutter_.next(); }
  /// The device is let in.
  void greeted() { cutter_.set_most(kMostPacket); }
  /// What has come behind the last packet, as of `Cutter`.
  std::string_view rest() const { return cutter_.rest(); }
  void send(std::string_view bytes);
  /// Sends the bytes, as far as they can be sent at once, and closes.
  void close(std::string_view bytes = "");
  bool is_open() const { return is_open_; }
  const std::string& peer() const { return peer_; }
  /// The address of the device; the unspecified one if the device had gone before it was asked.
  const boost::asio::ip::address& address() const { return address_; }
  /// The memory that it takes for bytes, in bytes.
  std::size_t bytes() const { return cutter_.capacity() + waiting_.capacity(); }

 private:
  protocol::Stream stream_;
  boost::asio::ip::address address_;
  std::string peer_;
  Cutter cutter_;
  std::string sending_, waiting_;  // on its way, and behind that
  std::function<void()> on_bytes_, on_end_;
  bool is_open_ = true;

  void read();
  void write();
  void end();
};

}  // namespace gorgo::doors::mqtt
