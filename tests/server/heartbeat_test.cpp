#include <gmock/gmock.h>

#include "http_support.hpp"
#include "proxy.hpp"

// Both sides notice a connection that is open and brings nothing.
namespace gorgo::server {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

ServerOptions with_heartbeats(int heartbeat_ms, int timeout_ms) {
  ServerOptions options;
  options.limits.heartbeat = milliseconds(heartbeat_ms);
  options.limits.heartbeat_timeout = milliseconds(timeout_ms);
  return options;
}

wire::WelcomeT greet_with_heartbeats(RawConnection& raw) {
  wire::HelloT hello;
  hello.min_version = hello.max_version = protocol::kVersion;
  hello.heartbeats = true;
  raw.send(1, hello);
  return raw.expect<wire::Welcome>(1);
}

TEST(Heartbeats, ASilentServerPingsWhoeverAnswers) {
  RunningServer server(with_heartbeats(10, 60'000));
  RawConnection old(server->address()), fresh(server->address());
  old.greet();
  const auto welcome = greet_with_heartbeats(fresh);
  EXPECT_EQ(welcome.heartbeat_ms, 10u);
  EXPECT_EQ(welcome.heartbeat_timeout_ms, 60'000u);
  for (int i = 0; i < 10; ++i) {
    fresh.expect<wire::Ping>(0);
    fresh.send(0, wire::PongT());
  }
  // A client that did not say that it knows heartbeats gets none.
  old.send(2, wire::ListTypesT());
  old.expect<wire::Types>(2);
}

TEST(Heartbeats, WhoeverDoesNotAnswerIsToldAndDisconnected) {
  RunningServer server(with_heartbeats(10, 20));
  RawConnection raw(server->address());
  greet_with_heartbeats(raw);
  raw.expect<wire::Ping>(0);
  const auto error = raw.expect<wire::Error>(0);
  EXPECT_EQ(error.code, wire::ErrorCode::Timeout);
  EXPECT_THAT(error.message, HasSubstr("no answer to a Ping within 20 ms"));
  EXPECT_FALSE(raw.receive());
}

TEST(Heartbeats, AClientMayPingToo) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  raw.send(7, wire::PingT());
  raw.expect<wire::Pong>(7);
}

TEST(Heartbeats, AConnectionThatBringsNothingIsNoticedOnBothSides) {
  RunningServer server(with_heartbeats(20, 2000));
  Proxy proxy(server->address());
  auto client = Client::connect(proxy.address(), {.heartbeats = true});
  ASSERT_TRUE(client) << client.error().to_string();
  subscribe(*client, "Temp");
  Client publisher = server.connect();
  ASSERT_TRUE(publisher.publish(std::vector{temp(10, "A1", 1)}));
  EXPECT_EQ(*next(*client).event.timestamp, 10);
  // While the client waits, it answers.
  const auto before = proxy.bytes_from_client();
  const std::size_t answers = 3 * protocol::encode(0, wire::PongT()).size();
  while (proxy.bytes_from_client() < before + answers) {
    const auto nothing = client->next(10 * kMillisecond);
    ASSERT_TRUE(nothing) << nothing.error().to_string();
  }
  proxy.freeze();
  const auto lost = client->next(60 * kSecond);
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, HasSubstr("nothing came from"));
  wait_until([&] { return proxy.server_has_closed(); });
}

TEST(Heartbeats, StreamsOfEventsHaveCommentsInSilence) {
  RunningServer server(with_http(with_heartbeats(10, 20)));
  HttpConnection stream(http_address(server));
  stream.request("GET", "/v1/events?subscribe=Temp");
  EXPECT_EQ(stream.receive().status, 200u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(stream.line(), ": heartbeat");
    EXPECT_EQ(stream.line(), "");
  }
}

TEST(Heartbeats, AWebSocketThatAnswersNoPingEnds) {
  RunningServer server(with_http(with_heartbeats(10, 20)));
  HttpConnection socket(http_address(server));
  EXPECT_EQ(socket
                .ask("GET", "/v1/events", "",
                     "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")
                .status,
            101u);
  EXPECT_EQ(socket.bytes(2)[0], '\x89');  // a ping
  while (!socket.is_closed()) socket.bytes(1);
}

}  // namespace
}  // namespace gorgo::server
