#include <gmock/gmock.h>

#include <atomic>
#include <future>

#include "support.hpp"

// What happens when a publisher is faster than the engine, and at the end.
namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

TEST(Backpressure, AFullQueueStopsTheReadingAndLosesNothing) {
  Gate gate;
  ServerOptions options;
  options.limits.queue_bytes = 2;
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

TEST(Backpressure, AClientWithoutRoomForDeliveriesHearsItsReplies) {
  RunningServer server;
  Client publisher = server.connect();
  auto subscriber = Client::connect(server->address(), {.max_undelivered = 10});
  ASSERT_TRUE(subscriber);
  subscribe(*subscriber, "Temp");
  const std::vector<Event> events(1000, temp(std::nullopt, "A1", 1));
  std::uint64_t received = 0;
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(publisher.publish(events));
    const auto delivery = subscriber->next(30'000'000'000);
    ASSERT_TRUE(delivery && *delivery);
    ++received;
    const auto types = subscriber->types();  // behind deliveries that wait
    ASSERT_TRUE(types) << types.error().to_string();
  }
  for (; received < 3 * events.size(); ++received) {
    const auto delivery = subscriber->next(30'000'000'000);
    ASSERT_TRUE(delivery && *delivery) << received;
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
  raw.subscribe("*");
  raw.send(publish_frame(3, {temp(std::nullopt, "A1", 1)}));
  raw.send(publish_frame(4, {temp(std::nullopt, "A1", 2)}));
  wait_until_read(server, raw);
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
