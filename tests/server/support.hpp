#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gorgo/client.hpp"
#include "protocol/batch.hpp"
#include "protocol/framing.hpp"
#include "server/server.hpp"

namespace gorgo::server {

inline constexpr Duration kMillisecond = 1'000'000, kSecond = 1000 * kMillisecond;

inline constexpr const char* kFireRule = R"(rule fire_last:
define Fire(area: string, measuredTemp: float)
from   Smoke(area = $a) and last Temp(area = $a and value > 45) within 5 min from Smoke
where  area = Smoke.area and measuredTemp = Temp.value;)";

inline Event temp(std::optional<Timestamp> ts, const std::string& area, double value) {
  return {"Temp", ts, {{"area", area}, {"value", value}}};
}
inline Event smoke(std::optional<Timestamp> ts, const std::string& area) {
  return {"Smoke", ts, {{"area", area}}};
}

/// A client of the server there.
inline Client connect(const std::string& address) {
  auto client = Client::connect(address);
  EXPECT_TRUE(client) << client.error().to_string();
  return std::move(*client);
}

/// A server on a free loopback port, served by a thread of its own.
class RunningServer {
 public:
  explicit RunningServer(ServerOptions options = {}, LogLevel level = LogLevel::off,
                         bool with_rule_files = false)
      : log_(LogFormat::text, level), server_(on_free_port(std::move(options)), log_) {
    const auto recovered = server_.recover();
    EXPECT_TRUE(recovered) << recovered.error().to_string();
    if (with_rule_files) {
      EXPECT_FALSE(server_.load_rules().failed());
    }
    const auto listening = server_.listen();
    EXPECT_TRUE(listening) << listening.error().to_string();
    thread_ = std::thread([this] { server_.run(); });
  }
  ~RunningServer() { stop(); }

  Server& operator*() { return server_; }
  Server* operator->() { return &server_; }

  /// Stops and waits for the drain.
  void stop() {
    if (!thread_.joinable()) return;
    server_.stop();
    thread_.join();
  }

  Client connect() { return server::connect(server_.address()); }

 private:
  static ServerOptions on_free_port(ServerOptions options) {
    options.listen = "127.0.0.1:0";
    options.linger = std::chrono::milliseconds(100);  // many clients here read nothing more
    return options;
  }

  Log log_;
  Server server_;
  std::thread thread_;
};

/// A connection below the client: sends what no client would.
class RawConnection {
 public:
  explicit RawConnection(const std::string& address) {
    const auto colon = address.rfind(':');
    boost::asio::ip::tcp::resolver resolver(io_);
    boost::asio::connect(socket_,
                         resolver.resolve(address.substr(0, colon), address.substr(colon + 1)));
  }
  /// Connects from that address of this machine.
  RawConnection(const std::string& address, const std::string& from) {
    using boost::asio::ip::make_address;
    const auto colon = address.rfind(':');
    const auto port = static_cast<unsigned short>(std::stoul(address.substr(colon + 1)));
    socket_.open(boost::asio::ip::tcp::v4());
    socket_.bind({make_address(from), 0});
    socket_.connect({make_address(address.substr(0, colon)), port});
  }

  void send(const protocol::Bytes& bytes) {
    boost::asio::write(socket_, boost::asio::buffer(bytes));
  }
  template <class Body>
  void send(std::uint64_t id, const Body& body) {
    send(protocol::encode(id, body));
  }
  /// The next frame; nothing when the server closed the connection.
  std::optional<protocol::Bytes> receive() {
    protocol::Bytes frame(protocol::kPrefix);
    boost::system::error_code failure;
    boost::asio::read(socket_, boost::asio::buffer(frame), failure);
    if (failure) return std::nullopt;
    const auto content = flatbuffers::ReadScalar<std::uint32_t>(frame.data());
    frame.resize(protocol::kPrefix + content);
    boost::asio::read(socket_, boost::asio::buffer(frame.data() + protocol::kPrefix, content),
                      failure);
    if (failure) return std::nullopt;
    return frame;
  }
  /// The next frame as the message that it must be.
  template <class Body>
  typename Body::NativeTableType expect(std::uint64_t id) {
    const auto frame = receive();
    if (!frame) {
      ADD_FAILURE() << "the connection was closed";
      return {};
    }
    const auto message = protocol::open_frame(*frame);
    EXPECT_TRUE(message);
    EXPECT_EQ((*message)->id(), id);
    const wire::Body wanted = wire::BodyTraits<Body>::enum_value;
    const wire::Body kind = (*message)->body_type();
    EXPECT_EQ(kind, wanted) << protocol::name_of(kind);
    if (kind != wanted) return {};
    typename Body::NativeTableType body;
    static_cast<const Body*>((*message)->body())->UnPackTo(&body);
    return body;
  }
  void greet() {
    wire::HelloT hello;
    hello.min_version = hello.max_version = protocol::kVersion;
    send(1, hello);
    expect<wire::Welcome>(1);
  }
  /// Subscribes as subscription 1.
  void subscribe(const std::string& text) {
    wire::SubscribeT subscribe;
    subscribe.subscription = 1;
    subscribe.text = text;
    send(2, subscribe);
    expect<wire::Ack>(2);
  }
  void close() { socket_.close(); }
  void stop_sending() { socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send); }
  /// Breaks the connection, as the system of a killed client with unread replies does.
  void reset() {
    socket_.set_option(boost::asio::socket_base::linger(true, 0));
    socket_.close();
  }

 private:
  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_{io_};
};

/// A clock that holds the engine thread until it is opened.
class Gate {
 public:
  Timestamp pass() {
    entered_ = true;
    opened_.wait(false);
    return 1000 + ticks_++;
  }
  void open() {
    opened_ = true;
    opened_.notify_all();
  }
  /// Whether somebody stands before it, or went through.
  bool entered() const { return entered_; }

 private:
  std::atomic<bool> entered_ = false;
  std::atomic<bool> opened_ = false;
  std::atomic<Timestamp> ticks_ = 0;
};

/// A Publish frame of these events.
inline protocol::Bytes publish_frame(std::uint64_t id, const std::vector<Event>& events,
                                     std::uint64_t producer = 0, std::uint64_t sequence = 0,
                                     wire::AckMode ack = wire::AckMode::Accepted) {
  BatchBuilder collected;
  for (const Event& event : events) collected.add(event);
  flatbuffers::FlatBufferBuilder builder;
  const auto batch = protocol::pack(builder, collected.batch());
  const auto publish = wire::CreatePublish(builder, producer, sequence, ack, batch);
  builder.FinishSizePrefixed(wire::CreateMessage(builder, id, wire::Body::Publish, publish.Union()),
                             wire::MessageIdentifier());
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

/// The next delivery, which must come.
inline Delivery next(Client& client) {
  auto delivery = client.next(30'000'000'000);
  EXPECT_TRUE(delivery) << delivery.error().to_string();
  EXPECT_TRUE(delivery && *delivery) << "nothing was delivered";
  return delivery && *delivery ? std::move(**delivery) : Delivery{};
}

inline void deploy(Client& client, const std::string& text, bool replace = false) {
  const auto diagnostics = client.deploy("test.tesla", text, {.replace = replace});
  ASSERT_TRUE(diagnostics) << diagnostics.error().to_string();
  ASSERT_FALSE(diagnostics->failed()) << diagnostics->render();
}

inline std::uint32_t subscribe(Client& client, const std::string& text) {
  const auto subscribed = client.subscribe(text);
  EXPECT_TRUE(subscribed) << subscribed.error().to_string();
  EXPECT_FALSE(subscribed->diagnostics.failed()) << subscribed->diagnostics.render();
  return subscribed->subscription;
}

/// Looks now and then, until `done()`; the test's own time limit is the deadline. Looking all the
/// time would keep the server from the locks that its counters have.
template <class Done>
void wait_until(Done done) {
  while (!done()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Has the server read everything that this connection sent before: behind it comes a message that
/// the server refuses as soon as it reads it.
inline void wait_until_read(RunningServer& server, RawConnection& raw) {
  const auto before = server->counters().malformed;
  auto marker = protocol::encode(5, wire::ListRulesT());
  marker[8] = 'X';
  raw.send(marker);
  wait_until([&] { return server->counters().malformed != before; });
}

}  // namespace gorgo::server
