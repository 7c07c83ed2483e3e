#include <gmock/gmock.h>

#include <atomic>
#include <future>

#include "support.hpp"

// What happens when one side is faster than the other, and at the end.
namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

wire::SubscribeT to_everything() {
  wire::SubscribeT subscribe;
  subscribe.subscription = 1;
  subscribe.text = "*";
  return subscribe;
}

/// Publishes large events until `enough()`.
template <class Enough>
void flood(Client& client, Enough enough) {
  const std::vector<Event> events(20,
                                  Event{"Big", std::nullopt, {{"s", std::string(50'000, 'x')}}});
  while (!enough()) {
    const auto published = client.publish(events);
    ASSERT_TRUE(published) << published.error().to_string();
    ASSERT_EQ(published->accepted, events.size());
  }
}

TEST(SlowConsumer, IsToldAndDisconnectedWhileOthersGoOn) {
  ServerOptions options;
  options.limits.outbound_bytes = 1 << 20;
  RunningServer server(options);
  RawConnection slow(server->address());
  slow.greet();
  slow.send(2, to_everything());
  slow.expect<wire::Ack>(2);
  Client publisher = server.connect();
  flood(publisher, [&] { return server->counters().slow_consumers > 0; });

  // Now it reads: what was under way, then why nothing more comes.
  std::optional<protocol::Bytes> last;
  while (auto frame = slow.receive()) last = std::move(frame);
  ASSERT_TRUE(last);
  const auto* error = (*protocol::open_frame(*last))->body_as_Error();
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code(), wire::ErrorCode::Overloaded);
  EXPECT_TRUE(publisher.rules());
  EXPECT_EQ(server->counters().slow_consumers, 1u);
}

TEST(SlowConsumer, MayLoseDeliveriesInstead) {
  ServerOptions options;
  options.limits.outbound_bytes = 1 << 20;
  options.limits.slow_consumer = SlowConsumer::drop;
  RunningServer server(options);
  RawConnection slow(server->address());
  slow.greet();
  slow.send(2, to_everything());
  slow.expect<wire::Ack>(2);
  Client publisher = server.connect();
  std::uint64_t sent = 0;
  flood(publisher, [&] {
    sent += 20;
    return server->counters().dropped_rows > 0;
  });
  sent -= 20;

  // Now it reads: each large event arrives or is counted as lost. Small events keep coming so that
  // a delivery tells of the losses.
  std::uint64_t accounted = 0;
  std::uint64_t lost = 0;
  std::atomic<bool> caught_up = false;
  std::thread more([&] {
    while (!caught_up) {
      ASSERT_TRUE(publisher.publish(std::vector{temp(std::nullopt, "A1", 1)}));
    }
  });
  while (lost == 0 || accounted < sent) {
    const auto frame = slow.receive();
    if (!frame) break;
    const auto* deliver = (*protocol::open_frame(*frame))->body_as_Deliver();
    if (deliver == nullptr) break;
    lost += deliver->lost();
    accounted += deliver->lost();
    for (const auto* table : *deliver->batch()->tables()) {
      if (table->type()->string_view() == "Big") accounted += table->rows();
    }
  }
  caught_up = true;
  more.join();
  EXPECT_GT(lost, 0u);
  EXPECT_GE(accounted, sent);
}

/// A clock that holds the engine thread until it is opened.
class Gate {
 public:
  Timestamp pass() {
    opened_.wait(false);
    return 1000 + ticks_++;
  }
  void open() {
    opened_ = true;
    opened_.notify_all();
  }

 private:
  std::atomic<bool> opened_ = false;
  std::atomic<Timestamp> ticks_ = 0;
};

TEST(Backpressure, AFullQueueStopsTheReadingAndLosesNothing) {
  Gate gate;
  ServerOptions options;
  options.limits.queue_frames = 2;
  options.processor.clock = [&] { return gate.pass(); };
  RunningServer server(options);
  RawConnection raw(server->address());
  raw.greet();
  const std::uint64_t frames = 50;
  for (std::uint64_t i = 0; i < frames; ++i) {
    raw.send(publish_frame(100 + i, {temp(std::nullopt, "A1", 1)}));
  }
  wait_until([&] { return server->counters().stalled_reads > 0; });
  gate.open();
  for (std::uint64_t i = 0; i < frames; ++i) {
    EXPECT_EQ(raw.expect<wire::Ack>(100 + i).accepted, 1u);
  }
}

TEST(Drain, EverythingAcknowledgedIsDelivered) {
  RunningServer server;
  Client publisher = server.connect();
  Client subscriber = server.connect();
  subscribe(subscriber, "Temp");
  auto received = std::async(std::launch::async, [&] {
    std::uint64_t count = 0;
    while (true) {
      const auto delivery = subscriber.next(30'000'000'000);
      if (!delivery || !*delivery) return std::pair(count, delivery);
      ++count;
    }
  });
  std::atomic<std::uint64_t> acknowledged = 0;
  std::uint64_t sent = 0;
  std::thread publishing([&] {
    const std::vector<Event> events(100, temp(std::nullopt, "A1", 1));
    while (true) {
      sent += events.size();
      const auto published = publisher.publish(events);
      if (!published) return;
      acknowledged += published->accepted;
    }
  });
  wait_until([&] { return acknowledged > 5000; });
  server.stop();
  publishing.join();
  const auto [count, end] = received.get();
  EXPECT_GE(count, acknowledged);
  EXPECT_LE(count, sent);
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message, HasSubstr("the server is stopping"));
}

TEST(Drain, WorksOffWhatIsQueuedBeforeTheEnd) {
  Gate gate;
  ServerOptions options;
  options.processor.clock = [&] { return gate.pass(); };
  RunningServer server(options);
  RawConnection raw(server->address());
  raw.greet();
  raw.send(2, to_everything());
  raw.expect<wire::Ack>(2);
  raw.send(publish_frame(3, {temp(std::nullopt, "A1", 1)}));
  raw.send(publish_frame(4, {temp(std::nullopt, "A1", 2)}));
  // A malformed message behind them: when it is counted, both were queued.
  auto marker = protocol::encode(5, wire::ListRulesT());
  marker[8] = 'X';
  raw.send(marker);
  wait_until([&] { return server->counters().malformed > 0; });
  raw.expect<wire::Error>(0);
  std::thread stopping([&] { server.stop(); });
  gate.open();
  std::uint64_t acks = 0, rows = 0;
  bool told = false;
  while (const auto frame = raw.receive()) {
    const auto* message = *protocol::open_frame(*frame);
    if (const auto* ack = message->body_as_Ack()) acks += ack->accepted();
    if (const auto* deliver = message->body_as_Deliver()) rows += deliver->roots()->size();
    if (const auto* error = message->body_as_Error()) {
      told = error->code() == wire::ErrorCode::Stopping;
    }
  }
  raw.close();
  stopping.join();
  EXPECT_EQ(acks, 2u);
  EXPECT_EQ(rows, 2u);
  EXPECT_TRUE(told);
}

TEST(Drain, AServerWithoutClientsStops) {
  RunningServer server;
  server.stop();
  EXPECT_EQ(server->counters().sessions, 0u);
}

}  // namespace
}  // namespace gorgo::server
