#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "support.hpp"

// No client waits long for another one, and nobody works for a client that has gone.
namespace gorgo::server {
namespace {

constexpr std::uint32_t kRows = 65'536;

/// A small frame with very many events: no timestamps, no attributes.
protocol::Bytes many_rows(std::uint64_t id) {
  wire::PublishT publish;
  publish.batch = std::make_unique<wire::BatchT>();
  publish.batch->tables.push_back(std::make_unique<wire::EventTableT>());
  publish.batch->tables[0]->type = "Many";
  publish.batch->tables[0]->rows = kRows;
  return protocol::encode(id, publish);
}

class Fairness : public testing::Test {
 protected:
  Gate gate;
  ServerOptions options;
  std::optional<RunningServer> server;

  void start() {
    options.processor.clock = [this] { return gate.pass(); };
    server.emplace(options);
  }
};

struct Greeted : RawConnection {
  explicit Greeted(RunningServer& server) : RawConnection(server->address()) { greet(); }
};

TEST_F(Fairness, AnotherClientsEventPassesManyEventsInFewBytes) {
  options.limits.queue_work = std::chrono::milliseconds(100);
  start();
  Client subscriber = server->connect();
  subscribe(subscriber, "Temp");
  Greeted hog(*server);
  constexpr std::uint64_t kFrames = 10;
  for (std::uint64_t i = 0; i < kFrames; ++i) hog.send(many_rows(100 + i));
  wait_until([&] { return (*server)->counters().stalled_reads > 0; });
  Greeted other(*server);
  other.send(publish_frame(7, {temp(std::nullopt, "A1", 1)}));
  wait_until_read(*server, other);
  gate.open();
  EXPECT_LT(next(subscriber).place.root, 2u * kRows);
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    EXPECT_EQ(hog.expect<wire::Ack>(100 + i).accepted, kRows);
  }
}

TEST_F(Fairness, AFrameInPiecesKeepsTheOrderOfItsRowsAndOfItsConnection) {
  start();
  gate.open();
  Client subscriber = server->connect();
  subscribe(subscriber, "Temp");
  Greeted raw(*server);
  std::vector<Event> events;
  for (int i = 0; i < 50'000; ++i) events.push_back(temp(std::nullopt, "A1", i));
  raw.send(publish_frame(2, events, 9, 1));
  raw.send(publish_frame(3, {temp(std::nullopt, "A1", 50'000)}));
  raw.send(publish_frame(4, events, 9, 1));
  EXPECT_EQ(raw.expect<wire::Ack>(2).accepted, 50'000u);
  EXPECT_EQ(raw.expect<wire::Ack>(3).accepted, 1u);
  EXPECT_TRUE(raw.expect<wire::Ack>(4).duplicate);
  for (int i = 0; i <= 50'000; ++i) {
    ASSERT_EQ(std::get<double>(next(subscriber).event.attributes.at(1).value), i);
  }
}

TEST_F(Fairness, WorkOfAClientThatHasGoneIsDroppedButForItsEvents) {
  start();
  Client subscriber = server->connect();
  subscribe(subscriber, "Smoke");
  Greeted first(*server);
  first.send(publish_frame(2, {temp(std::nullopt, "A1", 1)}));
  wait_until([&] { return gate.entered(); });
  Greeted gone(*server);
  for (std::uint64_t i = 0; i < 50; ++i) gone.send(10 + i, wire::ListRulesT());
  gone.send(publish_frame(100, {smoke(std::nullopt, "A1")}));
  wait_until_read(*server, gone);
  gone.reset();
  wait_until([&] { return (*server)->counters().dropped_requests > 0; });
  gate.open();
  EXPECT_EQ((*server)->counters().dropped_requests, 50u);
  EXPECT_EQ(next(subscriber).event.type, "Smoke");
}

TEST_F(Fairness, OfTheDeploymentsOfAClientThatHasGoneOneIsCarriedOutAtMost) {
  start();
  Greeted first(*server);
  first.send(publish_frame(2, {temp(std::nullopt, "A1", 1)}));
  wait_until([&] { return gate.entered(); });
  Greeted gone(*server);
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::string n = std::to_string(i);
    wire::DeployT deploy;
    deploy.name = "gone.tesla";
    deploy.text = "rule r" + n + ": define C" + n + "() from Temp();";
    gone.send(10 + i, deploy);
  }
  gone.reset();
  gate.open();
  Client other = server->connect();
  for (int i = 0; i < 20; ++i) deploy(other, "rule own: define Own() from Temp();", true);
  EXPECT_LE(other.rules()->size(), 2u);
}

TEST_F(Fairness, AClientThatClosesOnlyItsSendingSideGetsItsReplies) {
  start();
  Greeted raw(*server);
  raw.send(publish_frame(2, {temp(std::nullopt, "A1", 1)}));
  for (std::uint64_t i = 0; i < 20; ++i) raw.send(10 + i, wire::ListTypesT());
  raw.stop_sending();
  gate.open();
  EXPECT_EQ(raw.expect<wire::Ack>(2).accepted, 1u);
  for (std::uint64_t i = 0; i < 20; ++i) raw.expect<wire::Types>(10 + i);
  EXPECT_FALSE(raw.receive());
}

/// Publications of each promise and a change of rules, whose replies come later than the end of
/// what the client sends.
void expect_replies_behind_the_end(RunningServer& server) {
  for (const auto ack :
       {wire::AckMode::Accepted, wire::AckMode::AcceptedAtOnce, wire::AckMode::Processed}) {
    Greeted raw(server);
    raw.send(publish_frame(2, {temp(std::nullopt, "A1", 1)}, 0, 0, ack));
    raw.stop_sending();
    EXPECT_EQ(raw.expect<wire::Ack>(2).accepted, 1u);
    EXPECT_FALSE(raw.receive());
  }
  Greeted raw(server);
  wire::DeployT rules;
  rules.name = "hot";
  rules.text = "define Hot() from Temp(value > 45);";
  raw.send(3, rules);
  raw.stop_sending();
  EXPECT_THAT(raw.expect<wire::Diagnostics>(3).list, testing::IsEmpty());
  EXPECT_FALSE(raw.receive());
}

TEST(Replies, ComeAlthoughTheClientHasClosedItsSendingSide) {
  RunningServer server;
  expect_replies_behind_the_end(server);
}

TEST(Replies, ComeAlthoughTheClientHasClosedItsSendingSideAndADiskHasToSync) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("gorgo_replies_" + std::to_string(getpid()));
  {
    ServerOptions options;
    options.journal.path = folder.string();
    options.journal.durability = Durability::durable;
    RunningServer server(options);
    expect_replies_behind_the_end(server);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gorgo::server
