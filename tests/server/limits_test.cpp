#include <gmock/gmock.h>

#include "server/subscriptions/subscriptions.hpp"
#include "support.hpp"

// What one client may have the server hold, and all together.
namespace gorgo::server {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

/// The first `bytes` of a frame of 16 MiB.
protocol::Bytes begun_frame(std::size_t bytes) {
  protocol::Bytes begun(bytes);
  flatbuffers::WriteScalar(begun.data(), std::uint32_t{(16 << 20) - 4});
  return begun;
}

/// What the server says at the end of a connection.
std::optional<wire::ErrorT> last_error(RawConnection& raw) {
  std::optional<wire::ErrorT> error;
  while (const auto frame = raw.receive()) {
    const auto* told = (*protocol::open_frame(*frame))->body_as_Error();
    if (told != nullptr) told->UnPackTo(&error.emplace());
  }
  return error;
}

void expect_served(RawConnection& raw) {
  raw.send(77, wire::ListRulesT());
  raw.expect<wire::Rules>(77);
}

TEST(TimeOut, EndsAClientThatNeverCompletesAFrame) {
  ServerOptions options;
  options.frame_timeout = milliseconds(50);
  RunningServer server(options);
  RawConnection idle(server->address()), half(server->address());
  idle.greet();
  half.greet();
  half.send(begun_frame(100'000));
  const auto error = last_error(half);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, wire::ErrorCode::Timeout);
  EXPECT_THAT(error->hint, HasSubstr("frame_timeout_ms"));
  half.close();
  expect_served(idle);
  wait_until([&] { return server->counters().memory_bytes < 100'000; });
}

TEST(TimeOut, EndsAnIdleClientWhereThatIsAskedFor) {
  ServerOptions options;
  options.idle_timeout = milliseconds(50);
  RunningServer server(options);
  RawConnection raw(server->address());
  raw.greet();
  const auto error = last_error(raw);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, wire::ErrorCode::Timeout);
  EXPECT_THAT(error->hint, HasSubstr("idle_timeout_ms"));
}

TEST(MaxSessions, SomeAreReservedForThisMachine) {
  ServerOptions options;
  options.limits.max_sessions = 1;
  options.limits.reserved_sessions = 1;
  RunningServer server(options);
  RawConnection first(server->address()), second(server->address());
  first.greet();
  second.greet();
  RawConnection third(server->address());
  EXPECT_EQ(third.expect<wire::Error>(0).code, wire::ErrorCode::Overloaded);
}

TEST(MaxSessions, ThoseThatAreRefusedTakeNoRoom) {
  ServerOptions options;
  options.limits.max_sessions = 1;
  options.limits.reserved_sessions = 0;
  RunningServer server(options);
  std::optional<RawConnection> first;
  first.emplace(server->address());
  first->greet();
  std::vector<std::unique_ptr<RawConnection>> refused;
  for (int i = 0; i < 5; ++i) {
    refused.push_back(std::make_unique<RawConnection>(server->address()));
    refused.back()->expect<wire::Error>(0);
  }
  first.reset();
  // The refused ones are still there, and as soon as the first is gone another one gets in.
  while (true) {
    RawConnection next(server->address());
    wire::HelloT hello;
    hello.min_version = hello.max_version = protocol::kVersion;
    next.send(1, hello);
    const auto frame = next.receive();
    ASSERT_TRUE(frame);
    if ((*protocol::open_frame(*frame))->body_as_Welcome() != nullptr) break;
    next.reset();
  }
}

TEST(MaxNewcomers, ThoseOfAnAddressKeepOutNobodyElse) {
  ServerOptions options;
  options.limits.max_newcomers = 2;
  RunningServer server(options);
  RawConnection silent(server->address()), other_silent(server->address());
  RawConnection third(server->address());
  const auto error = third.expect<wire::Error>(0);
  EXPECT_EQ(error.code, wire::ErrorCode::Overloaded);
  EXPECT_THAT(error.message, HasSubstr("2 connections from this address have not yet said"));
  EXPECT_THAT(error.hint, HasSubstr("limits.max_newcomers"));
  RawConnection elsewhere(server->address(), "127.0.0.2");
  elsewhere.greet();
  silent.greet();
  RawConnection next(server->address());
  next.greet();
  EXPECT_EQ(server->counters().refused_sessions, 1u);
}

TEST(MaxNewcomers, WhoHasGoneIsNone) {
  ServerOptions options;
  options.limits.max_newcomers = 1;
  RunningServer server(options);
  std::optional<RawConnection> silent;
  silent.emplace(server->address());
  silent->send({0, 0, 0});
  silent.reset();
  wait_until([&] { return Client::connect(server->address()).has_value(); });
}

TEST(Memory, TheLargestOfHalfFramesGoesFirst) {
  ServerOptions options;
  options.limits.memory_bytes = 15 << 19;
  RunningServer server(options);
  RawConnection small(server->address()), large(server->address()), late(server->address());
  for (RawConnection* raw : {&small, &large, &late}) raw->greet();
  small.send(begun_frame(1 << 20));
  large.send(begun_frame(5 << 20));
  // A frame of n bytes takes up to 2 n, so from here on the large one takes most.
  wait_until([&] {
    const auto counters = server->counters();
    return counters.memory_bytes > 6 << 20 || counters.slow_consumers > 0;
  });
  late.send(begun_frame(2 << 20));
  const auto error = last_error(large);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, wire::ErrorCode::Overloaded);
  EXPECT_THAT(error->hint, HasSubstr("limits.memory_bytes"));
  large.close();
  RawConnection other(server->address());
  other.greet();
  expect_served(other);
  EXPECT_EQ(server->counters().slow_consumers, 1u);
}

/// Whether the server takes a further client, which greets it.
bool try_to_greet(RawConnection& raw) {
  wire::HelloT hello;
  hello.min_version = hello.max_version = protocol::kVersion;
  raw.send(1, hello);
  const auto answer = raw.receive();
  return answer && (*protocol::open_frame(*answer))->body_type() == wire::Body::Welcome;
}

TEST(Memory, WhatClientsThatHaveGoneLeftBehindGoesFirst) {
  Gate gate;
  ServerOptions options;
  options.processor.clock = [&] { return gate.pass(); };
  options.limits.memory_bytes = 8 << 20;
  options.limits.max_sessions = 3;
  options.limits.reserved_sessions = 0;
  RunningServer server(options);
  RawConnection honest(server->address()), holder(server->address());
  honest.greet();
  holder.greet();
  holder.send(publish_frame(2, {smoke(std::nullopt, "kitchen")}));
  wait_until([&] { return gate.entered(); });
  const auto large = publish_frame(2, {{"Big", 1, {{"s", std::string(1 << 20, 'x')}}}});
  for (int i = 0; i < 20; ++i) {
    auto gone = std::make_unique<RawConnection>(server->address());
    while (!try_to_greet(*gone)) gone = std::make_unique<RawConnection>(server->address());
    gone->send(large);
    wait_until_read(server, *gone);
    gone->reset();
  }
  EXPECT_GT(server->counters().dropped_requests, 0u);
  gate.open();
  expect_served(honest);
  EXPECT_EQ(server->counters().slow_consumers, 0u);
}

TEST(Memory, WhatWaitsForManySlowClientsIsBoundedTogether) {
  ServerOptions options;
  options.limits.memory_bytes = 8 << 20;
  RunningServer server(options);
  std::vector<std::unique_ptr<RawConnection>> slow;
  for (int i = 0; i < 4; ++i) {
    slow.push_back(std::make_unique<RawConnection>(server->address()));
    slow.back()->greet();
    slow.back()->subscribe("Big");
  }
  Client publisher = server.connect();
  const std::vector<Event> events(4, Event{"Big", std::nullopt, {{"s", std::string(50'000, 'x')}}});
  while (server->counters().slow_consumers == 0) ASSERT_TRUE(publisher.publish(events));
  int told = 0;
  for (const auto& raw : slow) {
    raw->stop_sending();
    const auto error = last_error(*raw);
    told += error && error->code == wire::ErrorCode::Overloaded ? 1 : 0;
  }
  EXPECT_EQ(told, static_cast<int>(server->counters().slow_consumers));
  EXPECT_TRUE(publisher.rules());
}

TEST(SubscriptionTexts, AreBounded) {
  ServerOptions options;
  options.limits.subscription_bytes = 1000;
  options.limits.all_subscription_bytes = 2500;
  RunningServer server(options);
  Client client = server.connect();
  const auto text = [](std::size_t size) {
    return "Temp(area = '" + std::string(size - 15, 'x') + "')";
  };
  EXPECT_FALSE(client.subscribe(text(1001)));
  EXPECT_THAT(client.subscribe(std::string(2000, '(')).error().hint,
              HasSubstr("limits.subscription_bytes"))
      << "it is not parsed";
  const auto first = subscribe(client, text(1000));
  subscribe(client, text(1000));
  const auto refused = client.subscribe(text(1000));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().hint, HasSubstr("limits.all_subscription_bytes"));
  ASSERT_TRUE(client.unsubscribe(first));
  subscribe(client, text(1000));
}

TEST(SubscriptionTexts, AreForgottenWithTheirLastSubscriber) {
  ClientTotals totals{.memory = {std::size_t{1} << 40, [] {}}};
  Subscriptions subscriptions({}, totals.memory, [](const Outbox&, std::size_t) {});
  const auto one = std::make_shared<Outbox>(1, "one", Limits(), totals, [] {});
  const auto two = std::make_shared<Outbox>(2, "two", Limits(), totals, [] {});
  const Schema schema;
  for (const auto& client : {one, two}) {
    ASSERT_TRUE(subscriptions.add(client, 1, "Temp(value > 1)", {}, schema).subscribed);
    ASSERT_TRUE(subscriptions.add(client, 2, "Temp(value > 2)", {}, schema).subscribed);
  }
  EXPECT_EQ(subscriptions.texts(), 2u);
  EXPECT_TRUE(subscriptions.remove(*one, 1));
  EXPECT_EQ(subscriptions.texts(), 2u);
  EXPECT_TRUE(subscriptions.remove(*two, 1));
  EXPECT_EQ(subscriptions.texts(), 1u);
  subscriptions.remove_all(*one);
  subscriptions.remove_all(*two);
  EXPECT_EQ(subscriptions.texts(), 0u);
}

TEST(Malformed, MessagesAreLoggedWithTheirNumberAndEndTheConnectionWhenTheyAreVeryMany) {
  const std::string kLine = "malformed messages";
  ::testing::internal::CaptureStderr();
  RunningServer server({}, LogLevel::warning);
  RawConnection raw(server->address());
  raw.greet();
  auto frame = protocol::encode(5, wire::ListRulesT());
  frame[8] = 'X';
  for (int i = 0; i < 999; ++i) raw.send(frame);
  for (int i = 0; i < 999; ++i) raw.expect<wire::Error>(0);
  expect_served(raw);
  raw.send(frame);
  raw.expect<wire::Error>(0);
  EXPECT_FALSE(raw.receive());
  raw.close();
  server.stop();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("messages=1 error="));
  EXPECT_THAT(log, HasSubstr("messages=999"));
  std::size_t lines = 0;
  for (auto at = log.find(kLine); at != std::string::npos; at = log.find(kLine, at + 1)) ++lines;
  EXPECT_EQ(lines, 2u) << log;
  EXPECT_EQ(server->counters().malformed, 1000u);
}

TEST(Malformed, StrangersMakeALineTogether) {
  const std::string kLine = "malformed messages";
  ::testing::internal::CaptureStderr();
  RunningServer server({}, LogLevel::info);
  for (int i = 0; i < 20; ++i) {
    RawConnection raw(server->address());
    raw.send(protocol::Bytes(8, 0xff));
    while (raw.receive()) {
    }
  }
  server.stop();
  const std::string log = ::testing::internal::GetCapturedStderr();
  std::size_t lines = 0;
  for (auto at = log.find(kLine); at != std::string::npos; at = log.find(kLine, at + 1)) ++lines;
  EXPECT_EQ(lines, 1u) << log;
  EXPECT_EQ(server->counters().malformed, 20u);
}

}  // namespace
}  // namespace gorgo::server
