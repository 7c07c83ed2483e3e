// Servers whose disk fails, is full, or loses what was not synced when the power goes.

#include <gmock/gmock.h>

#include <mutex>
#include <random>

#include "checker.hpp"
#include "http_support.hpp"
#include "simulated_disk.hpp"
#include "support.hpp"
#include "text.hpp"

namespace gorgo::server {
namespace {

using journal::Fate;
using journal::Operation;
using journal::SimulatedDisk;
using testing::HasSubstr;

ServerOptions on(const std::shared_ptr<SimulatedDisk>& disk,
                 JournalFailure on_failure = JournalFailure::stop) {
  ServerOptions options;
  options.journal.path = "journal";
  options.journal.disk = disk;
  options.journal.on_failure = on_failure;
  options.drain_timeout = std::chrono::milliseconds(1000);
  return options;
}

Event a(std::int64_t v) { return {"A", std::nullopt, {{"v", v}}}; }

Result<Published> publish(Client& client, Acknowledge acknowledge = Acknowledge::durable) {
  return client.publish(std::vector<Event>{a(1)}, {.acknowledge = acknowledge});
}

std::uint64_t statistic(Client& client, std::string_view name) {
  const auto all = client.statistics();
  EXPECT_TRUE(all);
  const auto found = std::ranges::find(*all, name, &Statistic::name);
  EXPECT_NE(found, all->end()) << name;
  return found->value;
}

// The disk keeps some of what was not synced and loses the rest, in any order.
void cut_power_often(std::uint64_t snapshot_bytes) {
  for (const Durability durability : {Durability::buffered, Durability::durable}) {
    const auto disk = std::make_shared<SimulatedDisk>(1);
    ServerOptions options = on(disk);
    options.journal.durability = durability;
    options.journal.snapshot_bytes = snapshot_bytes;
    options.journal.segment_bytes = 1 << 16;
    std::mutex mutex;
    auto server = std::make_unique<RunningServer>(options);
    std::string address = (*server)->address();
    std::mt19937 random(7);
    checker::run(
        [&] {
          const std::lock_guard lock(mutex);
          return address;
        },
        4,
        [&] {
          disk->cut_power_at(1 + random() % 200);
          while (disk->powered()) std::this_thread::yield();
          server.reset();
          disk->restart(Fate::random, Fate::random);
          server = std::make_unique<RunningServer>(options);
          const std::lock_guard lock(mutex);
          address = (*server)->address();
        });
  }
}

TEST(PowerFailure, NothingAcknowledgedIsLostAndNothingComesTwice) { cut_power_often(0); }

TEST(PowerFailure, SnapshotsThatAreMadeMeanwhileLoseNothing) { cut_power_often(1 << 14); }

TEST(JournalFailure, AFailedSyncEndsTheServerAndTheNextStartRecovers) {
  const auto disk = std::make_shared<SimulatedDisk>(1);
  {
    RunningServer server(on(disk));
    Client client = server.connect();
    ASSERT_TRUE(publish(client));
    disk->fail(Operation::sync, 1);
    EXPECT_FALSE(publish(client));
    EXPECT_FALSE(client.next(30 * kSecond));  // the connection ends with the server
  }
  disk->heal();
  RunningServer again(on(disk));
  Client client = again.connect();
  EXPECT_TRUE(publish(client));
}

TEST(JournalFailure, AReadOnlyServerAnswersAndChangesNothing) {
  const auto disk = std::make_shared<SimulatedDisk>(1);
  RunningServer server(with_http(on(disk, JournalFailure::read_only)));
  Client client = server.connect();
  ASSERT_TRUE(publish(client));
  ASSERT_TRUE(server.connect().subscribe("A", {.durable = "mine"}));
  disk->fail(Operation::sync, 1);
  EXPECT_FALSE(publish(client));
  Client other = server.connect();
  const auto refused = publish(other, Acknowledge::accepted);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("changes nothing any more"));
  EXPECT_THAT(publish(other).error().to_string(), HasSubstr("changes nothing any more"));
  EXPECT_TRUE(server->counters().is_read_only);
  const auto deployed = other.deploy("a.tesla", kFireRule);
  ASSERT_FALSE(deployed);
  EXPECT_THAT(deployed.error().to_string(), HasSubstr("changes nothing any more"));
  EXPECT_FALSE(other.declare("B", {}));
  EXPECT_FALSE(other.tick(1));
  EXPECT_TRUE(other.rules());
  HttpConnection http(http_address(server));
  const auto kept = http.ask("DELETE", "/v1/subscriptions/mine");
  EXPECT_EQ(kept.status, 503u) << kept.body;
}

TEST(JournalFailure, APublicationThatAsksForLessThanTheServersLevelDoesNotWaitForTheDisk) {
  for (const auto asked : {Acknowledge::accepted, Acknowledge::by_default}) {
    const auto disk = std::make_shared<SimulatedDisk>(1);
    ServerOptions options = on(disk, JournalFailure::read_only);
    options.journal.durability = Durability::durable;
    RunningServer server(options);
    Client client = server.connect();
    disk->fail(Operation::sync, 1);
    EXPECT_EQ(bool(publish(client, asked)), asked == Acknowledge::accepted);
  }
}

// It is larger than what the journal gathers, so that its write fails before anybody waits for it.
TEST(JournalFailure, ALargePublicationWhoseWriteFailsIsNotAcknowledged) {
  for (const auto on_failure :
       {JournalFailure::read_only, JournalFailure::go_on, JournalFailure::stop}) {
    const auto disk = std::make_shared<SimulatedDisk>(1);
    RunningServer server(on(disk, on_failure));
    Client client = server.connect();
    ASSERT_TRUE(publish(client));
    const std::vector<Event> many(20'000,
                                  Event{"A", std::nullopt, {{"s", journal::dense_text(100)}}});
    disk->fail(Operation::write, 1);
    EXPECT_FALSE(client.publish(many, {.acknowledge = Acknowledge::durable}));
  }
}

TEST(JournalFailure, AServerMayGoOnWithoutAJournal) {
  const auto disk = std::make_shared<SimulatedDisk>(1);
  RunningServer server(on(disk, JournalFailure::go_on));
  Client client = server.connect();
  ASSERT_TRUE(publish(client));
  disk->fail(Operation::sync, 1);
  EXPECT_FALSE(publish(client));
  Client other = server.connect();
  EXPECT_TRUE(publish(other, Acknowledge::processed));
  EXPECT_FALSE(publish(other));
}

TEST(JournalFailure, AFullDiskRefusesUntilThereIsRoom) {
  const auto disk = std::make_shared<SimulatedDisk>(1);
  RunningServer server(on(disk));
  Client client = server.connect();
  ASSERT_TRUE(publish(client));
  // The first segment is there, and a second one does not fit.
  disk->set_capacity(std::uint64_t{100} << 20);
  std::vector<Event> large;
  for (int i = 0; i < 20'000; ++i) {
    large.push_back({"Large", std::nullopt, {{"text", journal::dense_text(100)}}});
  }
  Result<Published> published = client.publish(large);
  int accepted = 0;
  for (; published && accepted < 100; ++accepted) published = client.publish(large);
  ASSERT_FALSE(published);
  EXPECT_GT(accepted, 10);
  EXPECT_THAT(published.error().to_string(), HasSubstr("the journal finds no room"));
  EXPECT_EQ(statistic(client, "publications_without_room"), 1u);
  disk->set_capacity(std::uint64_t{300} << 20);
  EXPECT_TRUE(publish(client));
}

/// The last snapshot that succeeded needs more of the journal than there is room for. Behind one
/// more, the first files may go.
TEST(JournalFailure, ASnapshotThatFailedIsTriedAgainWhereTheJournalFindsNoRoom) {
  const auto disk = std::make_shared<SimulatedDisk>(1);
  ServerOptions options = on(disk);
  options.journal.segment_bytes = std::uint64_t{1} << 20;
  options.journal.snapshot_bytes = std::uint64_t{2} << 20;
  RunningServer server(options);
  Client client = server.connect();
  const std::vector<Event> some(500, {"A", std::nullopt, {{"text", journal::dense_text(100)}}});
  const auto publish_until_renamed = [&](std::uint64_t times) {
    while (disk->count(Operation::rename) < times) ASSERT_TRUE(client.publish(some));
  };
  publish_until_renamed(1);
  disk->fail(Operation::rename, 1);
  publish_until_renamed(2);
  disk->set_capacity(disk->used() + options.journal.segment_bytes / 2);
  Result<Published> published = client.publish(some);
  while (published) published = client.publish(some);
  EXPECT_THAT(published.error().to_string(), HasSubstr("the journal finds no room"));
  while (!client.publish(some)) std::this_thread::yield();
  EXPECT_EQ(disk->count(Operation::rename), 3u);
}

// A client publishes 60 000 rows, of which all but this one are late. The journal tells which rows
// were refused, and has the frame from the moment on in which one is accepted.
void fill_disk_behind_first_piece(std::size_t row) {
  const auto disk = std::make_shared<SimulatedDisk>(1);
  ServerOptions options = on(disk);
  options.journal.segment_bytes = 1 << 16;
  RunningServer server(options);
  Client other = server.connect();
  std::vector<Event> events(60'000, {"A", 0, {{"v", std::int64_t{1}}}});
  events[row].timestamp = 1000 * kSecond;
  ASSERT_TRUE(other.publish(std::vector<Event>{{"A", 1000 * kSecond, {{"v", std::int64_t{1}}}}}));
  const auto frame = publish_frame(3, events);
  disk->set_capacity(frame.size() + 200'000);
  RawConnection raw(server->address());
  raw.greet();
  raw.send(frame);
  while (statistic(other, "events_refused") == 0) std::this_thread::yield();  // it has begun
  const std::vector small(2000, Event{"A", 1000 * kSecond, {{"v", std::int64_t{1}}}});
  Result<Published> published = other.publish(small);
  while (published) published = other.publish(small);
  EXPECT_THAT(published.error().to_string(), HasSubstr("the journal finds no room"));
  disk->heal();
  const auto ack = raw.expect<wire::Ack>(3);
  EXPECT_EQ(ack.accepted, 1u);
  EXPECT_EQ(ack.refused, events.size() - 1);
  EXPECT_TRUE(other.publish(small));
}

TEST(JournalFailure, TheRestOfAPublicationWaitsForRoom) {
  for (const std::size_t row : {0, 59'999}) fill_disk_behind_first_piece(row);
}

TEST(JournalFailure, AServerDoesNotStartOnAFullDiskWhateverIsToHappenWhenItFails) {
  const auto disk = std::make_shared<SimulatedDisk>(1);
  {
    RunningServer server(on(disk));
    Client client = server.connect();
    ASSERT_TRUE(publish(client));
  }
  for (const auto on_failure :
       {JournalFailure::read_only, JournalFailure::go_on, JournalFailure::stop}) {
    disk->set_capacity(disk->used());
    {
      Log log(LogFormat::text, LogLevel::off);
      Server server(on(disk, on_failure), log);
      const auto recovered = server.recover();
      ASSERT_FALSE(recovered);
      EXPECT_THAT(recovered.error().to_string(),
                  testing::AllOf(HasSubstr("No space left"), HasSubstr("journal.segment_bytes")));
    }
    disk->heal();
    RunningServer server(on(disk, on_failure));
    Client client = server.connect();
    EXPECT_TRUE(publish(client));
  }
}

TEST(JournalFailure, AServerWithAFullDiskStopsInOrder) {
  const auto disk = std::make_shared<SimulatedDisk>(1);
  ServerOptions options = on(disk);
  options.listen = "127.0.0.1:0";
  Log log(LogFormat::text, LogLevel::off);
  auto server = std::make_unique<Server>(options, log);
  ASSERT_TRUE(server->recover());
  ASSERT_TRUE(server->listen());
  bool in_order = false;
  std::thread thread([&] { in_order = server->run(); });
  disk->set_capacity(std::uint64_t{100} << 20);
  const std::vector large(20'000,
                          Event{"Large", std::nullopt, {{"text", journal::dense_text(100)}}});
  {
    Client client = connect(server->address());
    int accepted = 0;
    while (accepted < 100 && client.publish(large)) ++accepted;
    EXPECT_LT(accepted, 100);
  }
  server->stop();
  thread.join();
  server = nullptr;
  EXPECT_TRUE(in_order);
  disk->set_capacity(std::uint64_t{300} << 20);
  RunningServer again(on(disk));
  Client client = again.connect();
  const auto published = publish(client);
  EXPECT_TRUE(published) << published.error().to_string();
}

}  // namespace
}  // namespace gorgo::server
