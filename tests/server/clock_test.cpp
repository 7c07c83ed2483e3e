#include <gmock/gmock.h>

#include "support.hpp"

// The server's own clock moves its rules where it stamps the input.
namespace gorgo::server {
namespace {

TEST(Clock, DeadlinesPassWhileNothingIsPublished) {
  RunningServer server;
  Client client = server.connect();
  deploy(client,
         "define Calm(area: string) from Smoke(area = $a) and not Temp(area = $a) within 50 ms "
         "after Smoke where area = Smoke.area;");
  subscribe(client, "*");
  ASSERT_TRUE(client.publish(std::vector{smoke(std::nullopt, "A1")}));
  const Delivery root = next(client);
  const Delivery calm = next(client);
  EXPECT_EQ(calm.event.type, "Calm");
  EXPECT_EQ(*calm.event.timestamp, *root.event.timestamp + 50 * kMillisecond);
}

TEST(Clock, TimersFireWhileNothingIsPublished) {
  RunningServer server;
  Client client = server.connect();
  deploy(client, "define Beat() from Timer(every = 20 ms);");
  subscribe(client, "Beat");
  ASSERT_TRUE(client.publish(std::vector{smoke(std::nullopt, "A1")}));
  const Delivery first = next(client);
  const Delivery second = next(client);
  EXPECT_EQ(*first.event.timestamp % (20 * kMillisecond), 0);
  EXPECT_EQ(*second.event.timestamp, *first.event.timestamp + 20 * kMillisecond);
}

TEST(Clock, HeldEventsAreReleasedWhileNothingIsPublished) {
  ServerOptions options;
  options.processor.lateness = 50 * kMillisecond;
  RunningServer server(options);
  Client client = server.connect();
  subscribe(client, "Smoke");
  ASSERT_TRUE(client.publish(std::vector{smoke(std::nullopt, "A1")}));
  EXPECT_EQ(next(client).event.type, "Smoke");
}

TEST(Clock, PublishersThatStampKeepTheClock) {
  RunningServer server;
  Client client = server.connect();
  deploy(client, "define Calm() from Smoke() and not Temp() within 1 ms after Smoke;");
  subscribe(client, "*");
  // Long ago by the server's clock: only the publisher's own time counts.
  ASSERT_TRUE(client.publish(std::vector{smoke(10 * kMillisecond, "A1")}));
  ASSERT_TRUE(client.publish(std::vector{temp(10 * kMillisecond + 1, "A1", 1)}));
  ASSERT_TRUE(client.tick(20 * kMillisecond));
  EXPECT_EQ(client.rules()->front().composites, 0u);
}

TEST(Clock, HeldEventsAreDeliveredAtTheEnd) {
  ServerOptions options;
  options.processor.lateness = 3'600'000 * kMillisecond;
  RunningServer server(options);
  Client client = server.connect();
  subscribe(client, "Smoke");
  ASSERT_TRUE(client.publish(std::vector{smoke(20, "A1"), smoke(10, "A1")}));
  server.stop();
  EXPECT_EQ(next(client).event.timestamp, 10);
  EXPECT_EQ(next(client).event.timestamp, 20);
}

}  // namespace
}  // namespace gorgo::server
