#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <thread>

#include "http_support.hpp"
#include "protocol/trex/encode.hpp"
#include "tls_support.hpp"
#include "trex_support.hpp"

// Strangers on every port while honest clients publish and subscribe, the server's clock jumps, and
// the server stops under this load. The account of the honest clients is exact.
namespace gorgo::server {
namespace {

#ifdef GORGO_SANITIZED
constexpr int kRounds = 3;  // of each stranger, at least
#else
constexpr int kRounds = 10;
#endif

/// The number behind `name=` in the log line `stopped`.
std::uint64_t stopped(const std::string& log, const std::string& name) {
  const auto line = log.find(" stopped ");
  const auto at = log.find(" " + name + "=", line);
  EXPECT_NE(at, std::string::npos) << log;
  return at == std::string::npos ? 0 : std::stoull(log.substr(at + name.size() + 2));
}

/// A connection that sends what it likes and leaves as it likes.
class Stranger {
 public:
  explicit Stranger(const std::string& address) : raw_(address) {}

  void send(std::string_view bytes) { raw_.send({bytes.begin(), bytes.end()}); }
  void send_byte_by_byte(std::string_view bytes) {
    for (const char& byte : bytes) send({&byte, 1});
  }
  void reset() { raw_.reset(); }

 private:
  RawConnection raw_;
};

class ChaosPorts : public testing::Test {
 protected:
  /// Runs strangers beside honest clients until each has had its rounds, then stops the server.
  void run(ServerOptions options, const ClientOptions& honest) {
    ::testing::internal::CaptureStderr();
    options.greeting_timeout = std::chrono::seconds(2);
    options.processor.clock = [this] { return clock(); };
    options.processor.max_ahead = std::nullopt;
    RunningServer server(with_http(with_trex(options)), LogLevel::info);
    ports_ = {server->address(), http_address(server), trex_address(*server)};
    {
      auto deployer = Client::connect(ports_[0], honest);
      ASSERT_TRUE(deployer) << deployer.error().to_string();
      deploy(*deployer, "rule copy: define Copy(x: int) from Big() where x = Big.x;");
    }
    std::vector<std::thread> threads;
    std::uint64_t delivered = 0, lost = 0;
    std::atomic<bool> is_subscribed = false;
    threads.emplace_back([&] { read(honest, is_subscribed, delivered, lost); });
    wait_until([&] { return is_subscribed.load(); });
    for (int i = 0; i < 2; ++i) threads.emplace_back([&] { publish(honest); });
    wait_until([&] { return acknowledged_ > 0; });
    for (const auto& stranger : strangers_) threads.emplace_back([&] { repeat(stranger); });
    wait_until([&] { return had_rounds_ == strangers_.size(); });
    server.stop();
    for (auto& thread : threads) thread.join();
    const std::string log = ::testing::internal::GetCapturedStderr();
    EXPECT_GT(delivered, 0u);
    EXPECT_EQ(lost, 0u);
    EXPECT_EQ(delivered, stopped(log, "composites"));
    EXPECT_EQ(delivered, stopped(log, "accepted"));
    EXPECT_GE(delivered, acknowledged_);
  }

  using Round = std::function<void(const std::string& port, std::mt19937& random)>;
  /// One that goes from port to port.
  void add(Round round) { strangers_.push_back(std::move(round)); }

  std::array<std::string, 3> ports_;  // native, HTTP, T-Rex

 private:
  std::vector<Round> strangers_;
  std::atomic<std::size_t> had_rounds_ = 0;
  std::atomic<bool> is_over_ = false;  // the server has ended honest connections
  std::atomic<std::uint64_t> acknowledged_ = 0;
  std::atomic<std::uint64_t> readings_ = 0;

  /// The time, which jumps an hour forth and half of that back.
  Timestamp clock() {
    constexpr Duration kHour = 3600 * kSecond;
    const std::uint64_t reading = ++readings_;
    const auto jumps = static_cast<Duration>(reading / 500);
    return kHour * (1 + jumps - jumps / 2) + static_cast<Duration>(reading) * kMillisecond;
  }

  void repeat(const Round& round) {
    std::mt19937 random(7);
    for (int i = 0; !is_over_ || i < kRounds; ++i) {
      if (i == kRounds) ++had_rounds_;
      try {
        round(ports_[static_cast<std::size_t>(i) % ports_.size()], random);
      } catch (const boost::system::system_error&) {
        // The server has ended the connection, or takes none any more.
        if (is_over_ && i >= kRounds) return;
      }
    }
  }

  void publish(const ClientOptions& honest) {
    auto client = Client::connect(ports_[0], honest);
    const std::vector<Event> events(50, Event{"Big", std::nullopt, {{"x", std::int64_t{1}}}});
    while (client) {
      const auto published = client->publish(events);
      if (!published) break;
      acknowledged_ += published->accepted;
    }
    is_over_ = true;
  }

  void read(const ClientOptions& honest, std::atomic<bool>& is_subscribed, std::uint64_t& delivered,
            std::uint64_t& lost) {
    auto client = Client::connect(ports_[0], honest);
    ASSERT_TRUE(client) << client.error().to_string();
    const auto subscribed = client->subscribe("Copy", {.slow = SlowPolicy::block});
    EXPECT_TRUE(subscribed) << subscribed.error().to_string();
    is_subscribed = true;
    while (true) {
      const auto delivery = client->next(60 * kSecond);
      if (!delivery || !*delivery) break;
      ++delivered;
    }
    lost = client->lost();
  }
};

std::string random_bytes(std::mt19937& random) {
  std::string bytes(random() % 300, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

/// Comes many at once and goes without a word.
void flood_port(const std::string& port, std::mt19937& random) {
  std::vector<std::unique_ptr<Stranger>> many;
  for (int i = 0; i < 40; ++i) many.push_back(std::make_unique<Stranger>(port));
  for (auto& each : many) {
    if (random() % 2 == 0) each->reset();
  }
}

void send_garbage(const std::string& port, std::mt19937& random) {
  Stranger stranger(port);
  stranger.send(random_bytes(random));
  if (random() % 2 == 0) stranger.reset();
}

TEST_F(ChaosPorts, StrangersHarmNoAccount) {
  add(flood_port);
  add(send_garbage);
  add([this](const std::string& port, std::mt19937&) {
    trex::Bytes packet;
    trex::encode_subscription(packet, all_of(77));
    const std::string request = "GET /v1/types HTTP/1.1\r\nHost: here\r\n\r\n";
    const bool is_trex = port == ports_[2];
    Stranger(port).send_byte_by_byte(is_trex ? std::string(packet.begin(), packet.end()) : request);
  });
  add([](const std::string& port, std::mt19937&) {
    auto half = publish_frame(3, {Event{"Big", std::nullopt, {{"x", std::int64_t{1}}}}});
    half.resize(half.size() / 2);
    RawConnection raw(port);
    raw.send(half);
    raw.reset();
  });
  add([](const std::string& port, std::mt19937&) {
    Stranger stranger(port);
    stranger.send(
        "POST /v1/events HTTP/1.1\r\nHost: here\r\nContent-Length: 1000\r\n\r\n{\"type\"");
    stranger.reset();
  });
  run({}, {});
}

TEST_F(ChaosPorts, AbandonedHandshakesHarmNoAccount) {
  const Certificates files;
  add(flood_port);
  add(send_garbage);
  add([](const std::string& port, std::mt19937& random) {
    // A ClientHello that does not go on.
    Stranger stranger(port);
    stranger.send(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11));
    if (random() % 2 == 0) stranger.reset();
  });
  add([](const std::string& port, std::mt19937&) {
    // A handshake that is done, and nothing behind it.
    TlsConnection(port).socket().close();
  });
  run(files.server(), files.client());
}

}  // namespace
}  // namespace gorgo::server
