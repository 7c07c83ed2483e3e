#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "support.hpp"

// Clients do what they like while the server stops under load. Whatever happens, each subscription
// gets every composite or is told that it does not.
namespace gorgo::server {
namespace {

/// A subscriber to all composites that reads until the server ends the connection.
class Subscriber {
 public:
  Subscriber(const std::string& address, wire::SlowPolicy slow,
             std::optional<std::uint64_t> credit = std::nullopt)
      : raw_(address), credited_(credit.has_value()) {
    raw_.greet();
    wire::SubscribeT subscribe;
    subscribe.subscription = 1;
    subscribe.text = "Copy";
    subscribe.slow = slow;
    if (credit) subscribe.credit_rows = *credit;
    raw_.send(2, subscribe);
    raw_.expect<wire::Ack>(2);
  }

  void read() {
    while (const auto frame = raw_.receive()) {
      const auto* message = *protocol::open_frame(*frame);
      if (const auto* error = message->body_as_Error()) stopped_ = is_stop(*error);
      if (const auto* deliver = message->body_as_Deliver()) take(*deliver);
    }
    raw_.close();
  }
  std::uint64_t delivered() const { return delivered_; }
  std::uint64_t lost() const { return lost_; }
  bool stopped() const { return stopped_; }

 private:
  RawConnection raw_;
  const bool credited_;
  std::uint64_t delivered_ = 0, lost_ = 0;
  Place last_;
  bool stopped_ = false;

  static bool is_stop(const wire::Error& error) {
    return error.code() == wire::ErrorCode::Stopping;
  }
  void see(const Place& place) {
    EXPECT_LT(last_, place);
    last_ = place;
  }
  void take(const wire::Deliver& deliver) {
    if (deliver.lost() > 0) {
      see({deliver.first_lost_root(), deliver.first_lost_ordinal()});
      if (deliver.lost() > 1) see({deliver.last_lost_root(), deliver.last_lost_ordinal()});
    }
    const auto rows = deliver.roots()->size();
    for (flatbuffers::uoffset_t i = 0; i < rows; ++i) {
      see({deliver.roots()->Get(i), deliver.ordinals()->Get(i)});
    }
    delivered_ += rows;
    lost_ += deliver.lost();
    if (credited_ && rows > 0) allow(rows);
  }
  void allow(std::uint64_t rows) {
    wire::CreditT credit;
    credit.subscription = 1;
    credit.rows = rows;
    try {
      raw_.send(9, credit);
    } catch (const boost::system::system_error&) {
      // The server reads no more.
    }
  }
};

std::vector<Event> some_events() {
  return std::vector<Event>(20, Event{"Big", std::nullopt, {{"s", std::string(10'000, 'x')}}});
}

void publish_until_the_end(const std::string& address) {
  auto client = Client::connect(address);
  while (client && client->publish(some_events())) {
  }
}

/// A publication, byte by byte.
void publish_slowly(const std::string& address) {
  RawConnection raw(address);
  raw.greet();
  for (const std::uint8_t byte : publish_frame(3, {some_events()[0]})) {
    try {
      raw.send(protocol::Bytes{byte});
    } catch (const boost::system::system_error&) {
      return;
    }
  }
}

/// A subscriber that goes in the middle of a frame, without a word.
void subscribe_and_vanish(const std::string& address) {
  try {
    RawConnection raw(address);
    raw.greet();
    raw.subscribe("Copy");
    auto half = publish_frame(3, some_events());
    half.resize(half.size() / 2);
    raw.send(half);
    raw.reset();
  } catch (const boost::system::system_error&) {
    // The server stops.
  }
}

TEST(Chaos, EveryCompositeIsDeliveredOrToldAsLost) {
  ServerOptions options;
  options.limits.outbound_bytes = 2 << 20;
  options.limits.block = std::chrono::milliseconds(60'000);
  RunningServer server(options);
  const std::string address = server->address();
  {
    Client deployer = server.connect();
    deploy(deployer, "rule copy: define Copy(s: string) from Big() where s = Big.s;");
  }
  std::vector<std::unique_ptr<Subscriber>> subscribers;
  const auto add = [&](wire::SlowPolicy slow, std::optional<std::uint64_t> credit = std::nullopt) {
    subscribers.push_back(std::make_unique<Subscriber>(address, slow, credit));
  };
  add(wire::SlowPolicy::Block);
  add(wire::SlowPolicy::Block, 50);
  add(wire::SlowPolicy::Drop, 7);
  add(wire::SlowPolicy::Drop);  // this one reads nothing until the server stops
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 3; ++i) {
    threads.emplace_back([&subscriber = *subscribers[i]] { subscriber.read(); });
  }
  for (int i = 0; i < 2; ++i) threads.emplace_back([&] { publish_until_the_end(address); });
  threads.emplace_back([&] { publish_slowly(address); });
  for (int i = 0; i < 20 || server->counters().lost_rows < 100; ++i) subscribe_and_vanish(address);
  std::thread stopping([&] { server.stop(); });
  subscribers[3]->read();
  stopping.join();
  for (auto& thread : threads) thread.join();
  const std::uint64_t composites = subscribers[0]->delivered();
  EXPECT_EQ(subscribers[0]->lost(), 0u);
  EXPECT_GT(composites, 100u);
  for (const auto& subscriber : subscribers) {
    EXPECT_TRUE(subscriber->stopped());
    EXPECT_EQ(subscriber->delivered() + subscriber->lost(), composites);
  }
  EXPECT_GT(subscribers[3]->lost(), 0u);
}

}  // namespace
}  // namespace gorgo::server
