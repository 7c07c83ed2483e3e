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
#include <vector>

#include "client/loop.hpp"
#include "client/publication.hpp"
#include "gorgo/client.hpp"
#include "protocol/address.hpp"
#include "protocol/frame_cutter.hpp"
#include "protocol/stream.hpp"

namespace gorgo::client {

using Frame = std::shared_ptr<const protocol::Bytes>;

/// Who has a connection, and takes what comes over it.
class ConnectionOwner {
 public:
  /// `lost`: events of the connection that did not come since the delivery before.
  virtual void take(DeliveredBatch batch, const Lost& lost) = 0;
  /// Whether it takes more deliveries; without, nothing more is read.
  virtual bool has_room() const = 0;
  /// A reply to a message that was posted, or to one that is awaited no longer.
  virtual void take_reply(const wire::Message& reply) = 0;

 protected:
  ~ConnectionOwner() = default;
};

/// One connection in one loop, from its opening to its end. Reading goes on during writing, so a
/// server that answers while it reads can never stall both sides. Bytes move only while the loop
/// runs: within the members that block, which run it, and beside the coroutines.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::io_context& io, const ClientOptions& options, ConnectionOwner& owner);

  /// Connects, and tells the server who the client is.
  Coroutine<Result<void>> open(std::string address);
  /// What the server takes; known when it is open.
  const BatchLimits& limits() const { return limits_; }

  /// Has a frame written behind what was posted before.
  void post(Frame frame);
  /// Posts a request and waits for its reply, a frame that `protocol::open_frame` accepts.
  template <class Body>
  Coroutine<Result<protocol::Bytes>> ask(Body body) {
    return ask(std::move(body), reply_timeout());
  }
  /// Waits for the end of the connection, watches meanwhile that the server is not silent for
  /// longer than it ever is, and says what the end was.
  Coroutine<Error> until_broken();
  /// Wakes with whatever arrived or was written, and with the end.
  Signal& changed() { return changed_; }

  /// These block. Writes a request. `awaited`: `reply` will be called for it.
  Result<void> send(std::uint64_t id, protocol::Bytes frame, bool awaited = true);
  /// The reply to an awaited request.
  Result<protocol::Bytes> reply(std::uint64_t id);
  template <class Body>
  Result<protocol::Bytes> request(const Body& body) {
    const std::uint64_t id = next_id();
    if (auto sent = send(id, protocol::encode(id, body)); !sent) return sent.error();
    return reply(id);
  }
  /// Runs until `done()`, the deadline or the connection's end.
  template <class Done>
  bool run_until(Clock::time_point deadline, Done done);

  /// A number for the next request.
  std::uint64_t next_id() { return ++last_id_; }
  /// Goes on reading after the owner had no room.
  void read_on() { start_reading(); }
  /// The owner hears no more.
  void close();
  const std::optional<Error>& broken() const { return broken_; }
  bool is_leaving() const { return leaving_; }

 private:
  boost::asio::io_context& io_;
  const ClientOptions options_;
  ConnectionOwner* owner_;  // null: closed
  std::optional<boost::asio::ssl::context> context_;
  protocol::Stream stream_{boost::asio::ip::tcp::socket(io_)};
  boost::asio::ip::tcp::resolver resolver_{io_};
  std::string address_;
  BatchLimits limits_;
  protocol::FrameCutter cutter_;
  std::optional<Error> broken_;
  Signal changed_{io_};
  bool reading_ = false;
  std::deque<Frame> outgoing_;
  std::vector<Frame> writing_;  // what is on its way; empty: nothing
  std::uint64_t pongs_due_ = 0;
  Clock::time_point received_ = Clock::now();
  std::optional<Clock::duration> patience_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, std::optional<protocol::Bytes>> awaited_;
  bool leaving_ = false;

  Clock::time_point deadline() const { return after(options_.timeout); }
  Duration reply_timeout() const {
    return options_.reply_timeout > 0 ? options_.reply_timeout : options_.timeout;
  }
  /// When the server will have been silent for too long, as far as it is listened to.
  Clock::time_point end_of_silence() const;
  /// Whether the connection has ended, by silence at the latest.
  bool is_over();
  /// Nobody between here and the server can read along.
  bool is_private() const;
  Coroutine<Result<void>> connect(protocol::Address to);
  /// Agrees with the server on keys, and makes sure that it is the one of that name.
  Coroutine<Result<void>> secure(std::string host);
  Coroutine<Result<void>> greet();
  template <class Body>
  Coroutine<Result<protocol::Bytes>> ask(Body body, Duration timeout) {
    const std::uint64_t id = next_id();
    awaited_[id];
    post(std::make_shared<const protocol::Bytes>(protocol::encode(id, body)));
    return reply_to(id, timeout);
  }
  Coroutine<Result<protocol::Bytes>> reply_to(std::uint64_t id, Duration timeout);
  Error timed_out(Duration waited);
  void fail(Error error);
  void write_on();
  void start_reading();
  void take_frames();
  void take(protocol::Bytes frame);
  void take_unasked(const wire::Message& message, protocol::Bytes frame);
  void take_delivery(const wire::Deliver& deliver, protocol::Bytes frame);
};

template <class Done>
bool Connection::run_until(Clock::time_point deadline, Done done) {
  while (!done()) {
    if (broken_) return false;
    start_reading();
    io_.restart();
    if (io_.run_one_until(std::min(deadline, end_of_silence())) > 0) continue;
    if (Clock::now() >= deadline) return done();
    if (is_over()) return false;
  }
  return true;
}

}  // namespace gorgo::client
