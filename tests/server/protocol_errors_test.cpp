#include <gmock/gmock.h>

#include "support.hpp"

namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

/// The server still answers: what another client did had no effect on it.
void expect_alive(RunningServer& server) {
  Client other = server.connect();
  const auto published = other.publish(std::vector{temp(std::nullopt, "A1", 1)});
  ASSERT_TRUE(published) << published.error().to_string();
  EXPECT_EQ(published->accepted, 1u);
}

TEST(ProtocolErrors, NoCommonVersion) {
  RunningServer server;
  RawConnection raw(server->address());
  wire::HelloT hello;
  hello.min_version = 5;
  hello.max_version = 9;
  raw.send(3, hello);
  const auto error = raw.expect<wire::Error>(3);
  EXPECT_EQ(error.code, wire::ErrorCode::Version);
  EXPECT_THAT(error.message, HasSubstr("versions 5 to 9, this server speaks version 1"));
  EXPECT_FALSE(raw.receive());
}

TEST(ProtocolErrors, AWiderRangeOfVersionsIsNegotiated) {
  RunningServer server;
  RawConnection raw(server->address());
  wire::HelloT hello;
  hello.min_version = 1;
  hello.max_version = 9;
  raw.send(3, hello);
  const auto welcome = raw.expect<wire::Welcome>(3);
  EXPECT_EQ(welcome.version, 1);
  EXPECT_EQ(welcome.max_frame, protocol::kDefaultMaxFrame);
}

TEST(ProtocolErrors, ARequestBeforeHello) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.send(2, wire::ListRulesT());
  EXPECT_EQ(raw.expect<wire::Error>(2).code, wire::ErrorCode::NotGreeted);
  EXPECT_FALSE(raw.receive());
}

TEST(ProtocolErrors, ASecondHelloIsAnErrorAndTheConnectionStays) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  raw.send(2, wire::HelloT());
  EXPECT_EQ(raw.expect<wire::Error>(2).code, wire::ErrorCode::NotGreeted);
  raw.send(3, wire::ListRulesT());
  raw.expect<wire::Rules>(3);
}

TEST(ProtocolErrors, AnOversizeFrameEndsTheConnection) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  raw.send(protocol::Bytes{0xff, 0xff, 0xff, 0x7f});
  const auto error = raw.expect<wire::Error>(0);
  EXPECT_EQ(error.code, wire::ErrorCode::TooLarge);
  EXPECT_THAT(error.message, HasSubstr("above the limit of 16777216 bytes"));
  EXPECT_FALSE(raw.receive());
  expect_alive(server);
}

TEST(ProtocolErrors, UntilTheGreetingAFrameHas65536BytesAtMost) {
  RunningServer server;
  const auto hello = [](std::size_t size) {
    wire::HelloT greeting;
    greeting.min_version = greeting.max_version = protocol::kVersion;
    greeting.client = std::string(size, 'c');
    return protocol::encode(2, greeting);
  };
  const std::size_t beside = hello(8).size() - 8;
  RawConnection exact(server->address()), above(server->address());
  ASSERT_EQ(hello(65'536 - beside).size(), 65'536u);
  exact.send(hello(65'536 - beside));
  exact.expect<wire::Welcome>(2);
  above.send(hello(65'536 - beside + 8));
  EXPECT_EQ(above.expect<wire::Error>(0).code, wire::ErrorCode::TooLarge);
  EXPECT_FALSE(above.receive());
}

TEST(ProtocolErrors, AnotherProtocolIsToldSo) {
  RunningServer server;
  RawConnection raw(server->address());
  const std::string_view http = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  raw.send(protocol::Bytes(http.begin(), http.end()));
  EXPECT_EQ(raw.expect<wire::Error>(0).code, wire::ErrorCode::TooLarge);
  EXPECT_FALSE(raw.receive());
}

TEST(ProtocolErrors, ATinyFrameEndsTheConnection) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  raw.send(protocol::Bytes{1, 0, 0, 0, 0});
  EXPECT_THAT(raw.expect<wire::Error>(0).message, HasSubstr("too small"));
  EXPECT_FALSE(raw.receive());
}

TEST(ProtocolErrors, ABadIdentifierIsNamedAndTheConnectionStays) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  auto frame = protocol::encode(2, wire::ListRulesT());
  frame[8] = 'X';
  raw.send(frame);
  const auto error = raw.expect<wire::Error>(0);
  EXPECT_EQ(error.code, wire::ErrorCode::Malformed);
  EXPECT_THAT(error.message, HasSubstr("identifier"));
  raw.send(3, wire::ListRulesT());
  raw.expect<wire::Rules>(3);
  EXPECT_EQ(server->counters().malformed, 1u);
}

TEST(ProtocolErrors, GarbageInAFrameIsNamedAndTheConnectionStays) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  auto frame = protocol::encode(2, wire::ListRulesT());
  std::fill(frame.begin() + 12, frame.end(), std::uint8_t{0xee});
  raw.send(frame);
  EXPECT_EQ(raw.expect<wire::Error>(0).code, wire::ErrorCode::Malformed);
  raw.send(3, wire::ListRulesT());
  raw.expect<wire::Rules>(3);
}

TEST(ProtocolErrors, ADamagedBatchIsNamedAndNothingOfItApplied) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  wire::PublishT publish;
  publish.batch = std::make_unique<wire::BatchT>();
  auto table = std::make_unique<wire::EventTableT>();
  table->type = "Temp";
  table->rows = 2;
  table->timestamps = {1};
  publish.batch->tables.push_back(std::move(table));
  raw.send(2, publish);
  const auto error = raw.expect<wire::Error>(2);
  EXPECT_EQ(error.code, wire::ErrorCode::Malformed);
  EXPECT_THAT(error.message, HasSubstr("table 'Temp': 1 timestamps for 2 rows"));
  raw.send(publish_frame(3, {temp(10, "A1", 1)}));
  EXPECT_EQ(raw.expect<wire::Ack>(3).accepted, 1u);
}

TEST(ProtocolErrors, ServerMessagesAreNoRequests) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  raw.send(2, wire::AckT());
  const auto error = raw.expect<wire::Error>(2);
  EXPECT_EQ(error.code, wire::ErrorCode::UnknownMessage);
  EXPECT_THAT(error.message, HasSubstr("Ack is not a request"));
}

TEST(ProtocolErrors, SubscriptionIdsAreUniqueAndKnown) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  wire::SubscribeT subscribe;
  subscribe.subscription = 7;
  subscribe.text = "Temp";
  raw.send(2, subscribe);
  raw.expect<wire::Ack>(2);
  raw.send(3, subscribe);
  EXPECT_EQ(raw.expect<wire::Error>(3).code, wire::ErrorCode::Invalid);
  wire::UnsubscribeT unsubscribe;
  unsubscribe.subscription = 8;
  raw.send(4, unsubscribe);
  EXPECT_EQ(raw.expect<wire::Error>(4).code, wire::ErrorCode::NotFound);
}

TEST(ProtocolErrors, AsManyTablesAndColumnsAsFitInAFrameMayCome) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  std::vector<Event> events;
  for (int table = 0; table < 300; ++table) {
    Event& event = events.emplace_back(Event{"T" + std::to_string(table), std::nullopt, {}});
    for (int i = 0; i < 250; ++i) event.attributes.push_back({"a" + std::to_string(i), true});
  }
  raw.send(publish_frame(2, events));
  EXPECT_EQ(raw.expect<wire::Ack>(2).accepted, 300u);
}

TEST(ProtocolErrors, AFirstSequenceMayBeZero) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  raw.send(publish_frame(2, {temp(10, "A1", 1)}, 77, 0));
  EXPECT_EQ(raw.expect<wire::Ack>(2).accepted, 1u);
  raw.send(publish_frame(3, {temp(10, "A1", 1)}, 77, 0));
  EXPECT_TRUE(raw.expect<wire::Ack>(3).duplicate);
  raw.send(publish_frame(4, {temp(10, "A1", 1)}, 77, 1));
  EXPECT_EQ(raw.expect<wire::Ack>(4).accepted, 1u);
}

TEST(ProtocolErrors, ARequestWithTheIdZeroIsCarriedOut) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  raw.send(publish_frame(0, {temp(10, "A1", 1)}));
  EXPECT_EQ(raw.expect<wire::Ack>(0).accepted, 1u);
}

TEST(ProtocolErrors, AClientThatVanishesInTheMiddleOfAFrameLeavesNothing) {
  ServerOptions options;
  options.limits.max_sessions = 1;
  options.limits.reserved_sessions = 0;
  RunningServer server(options);
  {
    RawConnection raw(server->address());
    raw.greet();
    auto frame = publish_frame(2, {temp(10, "A1", 1)});
    frame.resize(frame.size() / 2);
    raw.send(frame);
  }
  // Its place is free again when its session has ended.
  wait_until([&] { return Client::connect(server->address()).has_value(); });
}

TEST(ProtocolErrors, ConnectionsAboveTheLimitAreRefusedWithAReason) {
  ServerOptions options;
  options.limits.max_sessions = 1;
  options.limits.reserved_sessions = 0;
  RunningServer server(options);
  Client first = server.connect();
  const auto second = Client::connect(server->address());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("1 connections, its limit"));
  EXPECT_TRUE(first.rules());
}

TEST(ProtocolErrors, AClientThatNeverGreetsIsDisconnected) {
  ServerOptions options;
  options.greeting_timeout = std::chrono::milliseconds(20);
  RunningServer server(options);
  RawConnection raw(server->address());
  EXPECT_FALSE(raw.receive());
}

}  // namespace
}  // namespace gorgo::server
