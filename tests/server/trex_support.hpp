#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/trex/decode.hpp"
#include "protocol/trex/encode.hpp"
#include "protocol/trex/packet_cutter.hpp"
#include "server/server.hpp"

namespace gorgo::server {

namespace trex = protocol::trex;

/// Where clients of T-Rex connect.
inline std::string trex_address(const Server& server) {
  for (const std::string& line : server.lines()) {
    constexpr std::string_view kBegin = "trex on ";
    if (line.starts_with(kBegin)) return line.substr(kBegin.size());
  }
  ADD_FAILURE() << "there is no port for T-Rex";
  return {};
}

inline ServerOptions with_trex(ServerOptions options = {}) {
  options.trex.listen = "127.0.0.1:0";
  return options;
}

/// A client of T-Rex that can also send what no client would.
class TrexConnection {
 public:
  explicit TrexConnection(const std::string& address) {
    const auto colon = address.rfind(':');
    boost::asio::ip::tcp::resolver resolver(*io_);
    boost::asio::connect(socket_,
                         resolver.resolve(address.substr(0, colon), address.substr(colon + 1)));
    socket_.set_option(boost::asio::ip::tcp::no_delay(true));
  }

  void send(std::span<const std::uint8_t> bytes) {
    boost::asio::write(socket_, boost::asio::buffer(bytes.data(), bytes.size()));
  }
  void publish(const trex::Publication& publication) {
    trex::Bytes bytes;
    trex::encode(bytes, publication);
    send(bytes);
  }
  void subscribe(const trex::Subscription& wanted) {
    trex::Bytes bytes;
    trex::encode_subscription(bytes, wanted);
    send(bytes);
  }
  void unsubscribe(const trex::Subscription& unwanted) {
    trex::Bytes bytes;
    trex::encode_unsubscription(bytes, unwanted);
    send(bytes);
  }
  void deploy(const trex::Rule& rule) {
    trex::Bytes bytes;
    trex::encode(bytes, rule);
    send(bytes);
  }
  /// A packet of any kind.
  void send(std::uint8_t kind, std::initializer_list<std::uint8_t> body) {
    trex::Bytes bytes = {kind, 0, 0, 0, static_cast<std::uint8_t>(body.size())};
    bytes.insert(bytes.end(), body);
    send(bytes);
  }

  /// The next publication; nothing when the server closed the connection. Its texts are valid until
  /// the next call.
  std::optional<trex::Publication> next() {
    while (true) {
      const auto packet = cutter_.next();
      EXPECT_TRUE(packet);
      if (!packet) return std::nullopt;
      if (*packet) return read(**packet);
      const auto space = cutter_.space();
      boost::system::error_code failure;
      const auto size = socket_.read_some(boost::asio::buffer(space.data(), space.size()), failure);
      if (failure) return std::nullopt;
      cutter_.fill(size);
    }
  }
  bool is_closed() { return !next().has_value(); }

  void close() { socket_.close(); }
  void stop_sending() { socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send); }

 private:
  std::unique_ptr<boost::asio::io_context> io_ = std::make_unique<boost::asio::io_context>();
  boost::asio::ip::tcp::socket socket_{*io_};
  trex::PacketCutter cutter_{std::size_t{1} << 30};

  static std::optional<trex::Publication> read(const trex::Packet& packet) {
    EXPECT_EQ(packet.kind, 0) << "only publications are sent to clients";
    trex::Publication publication;
    EXPECT_TRUE(trex::decode(packet.body, publication));
    return publication;
  }
};

/// A subscription to all events of a type.
inline trex::Subscription all_of(std::int32_t type) { return {type, {}}; }

/// The rule: type 3 with x = v of the last event of type 2 with v > 5 in the second before an event
/// of type 1.
inline trex::Rule last_rule() {
  trex::Rule rule;
  rule.predicates = {{1, {}, -1, 0, trex::Selection::each},
                     {2, {{"v", trex::Comparison::greater, 5}}, 0, 1000, trex::Selection::last}};
  rule.composite = {
      3, {{"x", {ValueType::integer, trex::Reference{1, trex::Part::state, "v"}}}}, {}};
  return rule;
}

}  // namespace gorgo::server
