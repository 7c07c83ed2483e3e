#include <gmock/gmock.h>

#include "support.hpp"

// A subscriber gets each event or is told that it lost it, whatever happens.
namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kBatch = 20;

ServerOptions small_outbox(SlowConsumer policy) {
  ServerOptions options;
  options.limits.outbound_bytes = 1 << 20;
  options.limits.slow_consumer = policy;
  return options;
}

/// Publishes large events until `enough()`; returns how many.
template <class Enough>
std::uint64_t flood(Client& client, Enough enough) {
  const std::vector<Event> events(kBatch,
                                  Event{"Big", std::nullopt, {{"s", std::string(50'000, 'x')}}});
  std::uint64_t sent = 0;
  while (!enough()) {
    const auto published = client.publish(events);
    EXPECT_TRUE(published) << published.error().to_string();
    if (!published) break;
    EXPECT_EQ(published->accepted, events.size());
    sent += events.size();
  }
  return sent;
}

/// What a connection got.
struct Account {
  std::uint64_t delivered = 0;
  std::uint64_t lost = 0;
  std::optional<wire::ErrorT> error;

  std::uint64_t all() const { return delivered + lost; }
  /// False: the connection ended.
  bool read_frame(RawConnection& from) {
    const auto frame = from.receive();
    if (!frame) return false;
    const auto message = protocol::open_frame(*frame);
    EXPECT_TRUE(message);
    if (const auto* deliver = (*message)->body_as_Deliver()) {
      EXPECT_FALSE(error);
      delivered += deliver->roots()->size();
      lost += deliver->lost();
    }
    if (const auto* e = (*message)->body_as_Error()) e->UnPackTo(&error.emplace());
    return true;
  }
};

class Losses : public testing::Test {
 protected:
  std::optional<RunningServer> server;
  std::optional<RawConnection> slow;
  std::optional<Client> publisher;

  void start(const ServerOptions& options, LogLevel level = LogLevel::off) {
    server.emplace(options, level);
    slow.emplace((*server)->address());
    slow->greet();
    slow->subscribe("Big");
    publisher.emplace(server->connect());
  }
};

TEST_F(Losses, AQuietServerTellsThemWhenTheClientHasCaughtUp) {
  start(small_outbox(SlowConsumer::drop));
  const auto sent = flood(*publisher, [&] { return (*server)->counters().lost_rows > 0; });
  Account account;
  while (account.all() < sent && account.read_frame(*slow)) {
  }
  EXPECT_EQ(account.all(), sent);
  EXPECT_EQ(account.lost, (*server)->counters().lost_rows);
  EXPECT_GT(account.lost, 0u);
  EXPECT_FALSE(account.error);
}

TEST_F(Losses, AStoppingServerTellsThemBeforeItSaysSo) {
  start(small_outbox(SlowConsumer::drop));
  RawConnection other((*server)->address());
  other.greet();
  other.subscribe("Big");
  Account fast_account;
  std::thread fast([&] {
    while (fast_account.read_frame(other)) {
    }
    other.close();
  });
  const auto sent = flood(*publisher, [&] { return (*server)->counters().lost_rows > 0; });
  std::thread stopping([&] { server->stop(); });
  Account account;
  while (account.read_frame(*slow)) {
  }
  slow->close();
  fast.join();
  stopping.join();
  for (const Account& each : {account, fast_account}) {
    EXPECT_EQ(each.all(), sent);
    ASSERT_TRUE(each.error);
    EXPECT_EQ(each.error->code, wire::ErrorCode::Stopping);
  }
  EXPECT_EQ(account.lost + fast_account.lost, (*server)->counters().lost_rows);
}

TEST_F(Losses, TheErrorOfADisconnectionSaysHowManyEventsWereDiscarded) {
  start(small_outbox(SlowConsumer::disconnect));
  const auto sent = flood(*publisher, [&] { return (*server)->counters().slow_consumers > 0; });
  Account account;
  while (account.read_frame(*slow)) {
  }
  ASSERT_TRUE(account.error);
  EXPECT_EQ(account.error->code, wire::ErrorCode::Overloaded);
  EXPECT_GT(account.lost, 0u);
  EXPECT_LE(account.all(), sent);
  EXPECT_THAT(account.error->message, HasSubstr(std::to_string(account.lost) + " events"));
  EXPECT_TRUE(publisher->rules());
  EXPECT_EQ((*server)->counters().slow_consumers, 1u);
}

/// Replies are never left out: what is discarded is the rest of them.
TEST_F(Losses, WhatWaitsForAClientIsDiscardedWhenItIsOverloaded) {
  start(small_outbox(SlowConsumer::drop));
  deploy(*publisher, "rule r: define C() /* " + std::string(100'000, 'x') + " */ from A();");
  wire::ListRulesT list;
  list.name = "r";
  constexpr std::uint64_t kRequests = 2'000;
  for (std::uint64_t id = 3; id < 3 + kRequests; ++id) slow->send(id, list);
  wait_until([&] { return (*server)->counters().slow_consumers > 0; });
  std::uint64_t replies = 0;
  for (auto frame = slow->receive(); frame; frame = slow->receive()) {
    const auto message = protocol::open_frame(*frame);
    ASSERT_TRUE(message);
    if (const auto* error = (*message)->body_as_Error()) {
      EXPECT_EQ((*message)->id(), 0u);
      EXPECT_EQ(error->code(), wire::ErrorCode::Overloaded);
      break;
    }
    EXPECT_EQ((*message)->id(), 3 + replies++);
  }
  EXPECT_LT(replies, kRequests);
  EXPECT_FALSE(slow->receive());
}

TEST_F(Losses, AClientThatNeverReadsIsGivenUpAndItsEventsAreCounted) {
  auto options = small_outbox(SlowConsumer::drop);
  options.drain_timeout = std::chrono::milliseconds(50);
  start(options);
  // By then the buffers of the system are full, too.
  flood(*publisher, [&] { return (*server)->counters().lost_rows > 1'000; });
  const auto before = (*server)->counters().lost_rows;
  server->stop();
  EXPECT_GT((*server)->counters().lost_rows, before);
}

TEST_F(Losses, TheLogTellsThemNowAndThen) {
  auto options = small_outbox(SlowConsumer::drop);
  options.drain_timeout = std::chrono::milliseconds(50);
  ::testing::internal::CaptureStderr();
  start(options, LogLevel::warning);
  flood(*publisher, [&] { return (*server)->counters().lost_rows > 10 * kBatch; });
  server->stop();
  std::istringstream log(::testing::internal::GetCapturedStderr());
  std::uint64_t rows = 0, lines = 0;
  for (std::string line; std::getline(log, line);) {
    const auto at = line.find("rows=");
    if (line.find("events for a client were lost") == std::string::npos) continue;
    ++lines;
    rows += std::stoull(line.substr(at + 5));
  }
  EXPECT_EQ(rows, (*server)->counters().lost_rows);
  EXPECT_LE(lines, 4u);
}

TEST(Oversize, AnEventThatNoFrameCouldDeliverIsRefused) {
  RunningServer server;
  Client client = server.connect();
  subscribe(client, "Big");
  RawConnection raw(server->address());
  raw.greet();
  // The largest event whose Publish keeps within the limit of a frame.
  const auto frame = [](std::size_t size) {
    return publish_frame(2, {{"Big", std::nullopt, {{"s", std::string(size, 'x')}}}});
  };
  std::size_t size = protocol::kDefaultMaxFrame - frame(0).size() - 16;
  raw.send(frame(size));
  const auto refused = raw.expect<wire::Ack>(2);
  ASSERT_EQ(refused.refused, 1u);
  EXPECT_THAT(refused.refusals[0]->reason, HasSubstr("bytes to be delivered"));
  raw.send(frame(size - 8000));
  EXPECT_EQ(raw.expect<wire::Ack>(2).accepted, 1u);
  EXPECT_EQ(next(client).event.type, "Big");
  EXPECT_EQ(client.lost(), 0u);
}

/// A number in the last line of the log.
std::uint64_t stopped(const std::string& log, const std::string& name) {
  const auto line = log.find(" stopped ");
  const auto at = log.find(" " + name + "=", line);
  EXPECT_NE(at, std::string::npos) << log;
  return at == std::string::npos ? 0 : std::stoull(log.substr(at + name.size() + 2));
}

TEST(LastLine, AcceptedAndRefusedAreAllThatWasSent) {
  ::testing::internal::CaptureStderr();
  RunningServer server({}, LogLevel::info);
  RawConnection raw(server->address());
  raw.greet();
  wire::DeclareT declare;
  declare.name = "Known";
  raw.send(2, declare);
  raw.expect<wire::Ack>(2);
  const std::size_t too_large = protocol::kDefaultMaxFrame - 1000;
  raw.send(publish_frame(3, {{"Big", 1, {{"s", std::string(too_large, 'x')}}}}));
  EXPECT_EQ(raw.expect<wire::Ack>(3).refused, 1u);
  raw.send(publish_frame(4, {{"Known", 1, {{"s", true}}}, {"Known", 1, {}}, {"Known", 2, {}}}));
  EXPECT_EQ(raw.expect<wire::Ack>(4).accepted, 2u);
  raw.close();
  Client client = server.connect();
  EXPECT_FALSE(client.trace({"Known", 3, {{"s", true}}}));
  EXPECT_TRUE(client.trace({"Known", 3, {}}));
  server.stop();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(stopped(log, "accepted"), 3u);
  EXPECT_EQ(stopped(log, "refused"), 3u);
}

TEST(LastLine, TellsTheTerminatorsThatSuspendedRulesPassedOver) {
  ::testing::internal::CaptureStderr();
  ServerOptions options;
  options.processor.max_rule_time = 1;
  RunningServer server(options, LogLevel::info);
  Client client = server.connect();
  deploy(client, kFireRule);
  ASSERT_TRUE(client.publish(std::vector{temp(1, "A1", 50)}));
  constexpr std::uint64_t kTerminators = 20;
  for (std::uint64_t i = 0; i < kTerminators; ++i) {
    ASSERT_TRUE(client.publish(std::vector{smoke(2, "A1")}));
  }
  const auto rules = client.rules();
  const auto passed_over = rules->front().passed_over;
  EXPECT_GT(passed_over, 0u);
  EXPECT_EQ(rules->front().terminators + passed_over, kTerminators);
  server.stop();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(stopped(log, "passed_over"), passed_over);
  EXPECT_THAT(log, HasSubstr("warning terminators passed over"));
  EXPECT_THAT(log, HasSubstr("last_rule=" + rules->front().name));
}

TEST(Oversize, ACompositeThatNoFrameCanHoldIsToldAsLost) {
  ServerOptions options;
  options.limits.max_frame = 256 << 10;
  RunningServer server(options);
  Client client = server.connect();
  Client publisher = server.connect();
  deploy(publisher,
         "define Both(a: string, b: string) from Y() and last X() within 1 h from Y "
         "where a = X.s, b = Y.s;");
  subscribe(client, "Both");
  const std::string text(150'000, 'x');
  ASSERT_TRUE(publisher.publish(std::vector{Event{"X", 10, {{"s", text}}}}));
  ASSERT_TRUE(publisher.publish(std::vector{Event{"Y", 20, {{"s", text}}}}));
  while (client.lost() == 0) {
    const auto nothing = client.next(1'000'000);
    ASSERT_TRUE(nothing) << nothing.error().to_string();
    ASSERT_FALSE(*nothing);
  }
  EXPECT_EQ(client.lost(), 1u);
  ASSERT_TRUE(publisher.publish(std::vector{Event{"Y", 30, {{"s", std::string("short")}}}}));
  EXPECT_EQ(next(client).event.type, "Both");
  EXPECT_EQ(client.lost(), 1u);
}

}  // namespace
}  // namespace gorgo::server
