#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "gorgo/client.hpp"
#include "protocol/address.hpp"
#include "protocol/frame_cutter.hpp"
#include "protocol/stream.hpp"

namespace gorgo::client {

/// One connection driven by its caller: bytes move only while a member runs. Reading goes on
/// during writing, so a server that answers while it reads can never stall both sides.
class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Connection(const ClientOptions& options);

  /// Resolves and connects; `greet` must follow.
  Result<void> open(const std::string& address);

  /// Whether nobody between here and the server can read along.
  bool is_private() const;

  /// Writes a request. `awaited`: `reply` will be called for it.
  Result<void> send(std::uint64_t id, const protocol::Bytes& frame, bool awaited = true);
  /// The reply to an awaited request, as a frame that `protocol::open_frame` accepts.
  Result<protocol::Bytes> reply(std::uint64_t id);
  template <class Body>
  Result<protocol::Bytes> request(const Body& body) {
    const std::uint64_t id = next_id();
    if (auto sent = send(id, protocol::encode(id, body)); !sent) return sent.error();
    return reply(id);
  }
  bool wants_heartbeats() const { return options_.heartbeats; }
  /// From now on a silence that is longer than this ends the connection.
  void expect_heartbeats(Clock::duration patience) { patience_ = patience; }
  /// A number for the next request.
  std::uint64_t next_id() { return ++last_id_; }
  /// The next delivery; nothing when none arrived in time.
  Result<std::optional<Delivery>> next(Duration timeout);

  std::uint64_t lost() const { return lost_; }
  bool is_leaving() const { return leaving_; }
  /// What came for publications that await no reply.
  const Published& unacknowledged() const { return unacknowledged_; }

 private:
  const ClientOptions options_;
  boost::asio::io_context io_;
  std::optional<boost::asio::ssl::context> context_;
  protocol::Stream stream_{boost::asio::ip::tcp::socket(io_)};
  std::string address_;
  protocol::FrameCutter cutter_;
  std::optional<Error> broken_;
  bool reading_ = false;
  bool writing_ = false;
  std::uint64_t pongs_due_ = 0;
  const protocol::Bytes pong_ = protocol::encode(0, wire::PongT());
  Clock::time_point received_ = Clock::now();
  std::optional<Clock::duration> patience_;
  Lost lost_before_;  // the next delivery
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, std::optional<protocol::Bytes>> awaited_;
  std::deque<Delivery> deliveries_;
  std::uint64_t lost_ = 0;
  bool leaving_ = false;
  Published unacknowledged_;

  /// Runs until `done()`, the deadline or the connection's end.
  template <class Done>
  bool run_until(Clock::time_point deadline, Done done);
  Clock::time_point deadline() const;
  /// When the server will have been silent for too long, as far as it is listened to.
  Clock::time_point end_of_silence() const;
  /// Writes what the server's pings ask for, unless something else is being written.
  void answer_pings();
  Result<void> connect(const protocol::Address& to);
  /// Agrees with the server on keys, and makes sure that it is the one of that name.
  Result<void> secure(const std::string& host);
  /// Begins an operation of Asio, which calls its argument when it is over, and waits for that.
  template <class Begin>
  boost::system::error_code await(Begin begin);
  Error timed_out();
  void fail(Error error);
  void start_reading();
  void take_frames();
  void take(protocol::Bytes frame);
  void take_unasked(const wire::Message& message, std::size_t frame_size);
  void take_delivery(const wire::Deliver& deliver, std::size_t frame_size);
  void take_refusals(const wire::Ack& ack);
};

}  // namespace gorgo::client
