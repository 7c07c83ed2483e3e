#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/clients/cpp_support.hpp"
#include "tests/clients/holding_proxy.hpp"

/// Durable subscriptions of the C++ client, and servers that have no room for more.
namespace gorgo {
namespace {

TEST(CppDurable, GetsEachEventOnceThroughKillsOfTheServerWhereItsSubscriptionIsDurable) {
  const Folder folder;
  RestartableServer server({"--journal", folder.path / "journal"});
  auto subscription = durable_of(server.address(), "billing");
  auto publisher = publisher_of(server.address(), {.acknowledge = Acknowledge::durable});
  std::int64_t expected = 0;
  for (int kill = 0; kill < 3; ++kill) {
    for (std::int64_t n = 0; n < 100; ++n) ASSERT_TRUE(publisher.send(numbered(kill * 100 + n)));
    ASSERT_EQ(publisher.flush().kind, Outcome::Kind::accepted);
    for (int n = 0; n < 60; ++n) {
      const Delivery delivery = next_event(subscription);
      ASSERT_EQ(number_in(delivery.event), expected++);
      if (n < 30) subscription.acknowledge(delivery.place);
    }
    server.kill();
    server.restart();
  }
  Place last;
  for (; expected < 300; ++expected) {
    const Delivery delivery = next_event(subscription);
    ASSERT_EQ(number_in(delivery.event), expected);
    last = delivery.place;
    if (expected == 289) subscription.acknowledge(last);
  }
  ASSERT_TRUE(subscription.drain());
  EXPECT_LT(subscription.acknowledged(), last);

  auto again = durable_of(server.address(), "billing");
  EXPECT_EQ(number_in(next_event(again).event), 290) << "behind what was acknowledged";
  again.close();
  auto later = durable_of(server.address(), "billing", last);
  ASSERT_TRUE(publisher.publish(std::vector<Event>{numbered(300)}));
  EXPECT_EQ(number_in(next_event(later).event), 300) << "behind what the program has seen";
}

TEST(CppDurable, SaysThatAServerWithAnotherJournalBeginsADurableSubscriptionAnew) {
  const Folder folder;
  RestartableServer server({"--journal", folder.path / "journal"});
  auto subscription = durable_of(server.address(), "billing");
  auto publisher = publisher_of(server.address(), {.acknowledge = Acknowledge::durable});
  ASSERT_TRUE(publisher.publish(std::vector<Event>{numbered(1), numbered(2)}));
  next_event(subscription);
  const Place former = next_event(subscription).place;
  subscription.acknowledge(former);
  while (subscription.acknowledged() == Place()) ASSERT_TRUE(subscription.next(1'000'000));

  server.kill();
  std::filesystem::remove_all(folder.path / "journal");
  server.restart();
  EXPECT_TRUE(std::holds_alternative<Disconnected>(next(subscription)));
  EXPECT_TRUE(std::holds_alternative<Reconnected>(next(subscription)));
  EXPECT_FALSE(std::get<Gap>(next(subscription)).lost);
  ASSERT_TRUE(publisher.publish(std::vector<Event>{numbered(3)}));
  const Delivery delivery = next_event(subscription);
  EXPECT_EQ(number_in(delivery.event), 3);
  ASSERT_LT(delivery.place, former);
  subscription.acknowledge(former);  // by a program that is late with it
  subscription.acknowledge(delivery.place);
  ASSERT_TRUE(subscription.drain());
  EXPECT_EQ(subscription.acknowledged(), delivery.place);
}

TEST(CppDurable, EndsADurableSubscriptionThatAnotherHasTakenOver) {
  const Folder folder;
  RestartableServer server({"--journal", folder.path / "journal"});
  auto first = durable_of(server.address(), "billing");
  auto second = durable_of(server.address(), "billing");
  const auto ended = first.next(kLong);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, "NotFound");
  EXPECT_TRUE(second.is_connected());
}

/// With a server that takes nothing more while 64 KiB wait for a durable subscription, and the one
/// who reads them.
class CppRoom : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(reader_.subscribe("Number", {.durable = kName})); }
  void TearDown() override { server_.stop(); }

  /// Reads until there are so many, each of them for the first time.
  void read(std::int64_t until) {
    while (got_.size() < static_cast<std::size_t>(until)) {
      const auto delivery = reader_.next(kLong);
      ASSERT_TRUE(delivery && *delivery) << got_.size() << " of " << until;
      take(**delivery);
    }
  }
  void take(const Delivery& delivery) {
    EXPECT_TRUE(got_.insert(number_in(delivery.event)).second) << "doubled";
    last_ = delivery.place;
  }
  void read_what_is_there() {
    const auto delivery = reader_.next(1'000'000);
    ASSERT_TRUE(delivery) << delivery.error().to_string();
    if (*delivery) take(**delivery);
  }
  void acknowledge() { ASSERT_TRUE(reader_.acknowledge(kName, last_)); }

  /// An event that fills the server, and more than `kSmall` of a connection.
  static Event large(std::int64_t n) {
    return {"Number", std::nullopt, {{"n", n}, {"text", std::string(70'000, 'x')}}};
  }
  static constexpr std::size_t kSmall = 20'000;

  /// Posts one message at once.
  static void post(Publisher& publisher, const Event& event) {
    BatchBuilder batch;
    batch.add(event);
    ASSERT_TRUE(publisher.send(batch.batch()));
  }
  /// Has the publisher work until the server has said more than its greeting.
  static void await_answer(Publisher& publisher, const HoldingProxy& proxy, std::size_t greeting) {
    wait_until([&] {
      publisher.run_for(1'000'000);
      return proxy.server_bytes() > greeting;
    });
  }

  static constexpr const char* kName = "slow";
  const Folder folder_;
  RunningServer server_{options(folder_)};
  Client reader_ = server_.connect();
  std::set<std::int64_t> got_;
  Place last_;

 private:
  static server::ServerOptions options(const Folder& folder) {
    server::ServerOptions options;
    options.journal.path = folder.path / "journal";
    options.journal.backlog_bytes = std::size_t{1} << 16;
    options.journal.backlog_policy = server::BacklogPolicy::refuse;
    return options;
  }
};

TEST_F(CppRoom, WhatFoundNoneIsSentAgain) {
  PublisherOptions options;
  options.client.timeout = 300'000'000;
  auto publisher = publisher_of(server_->address(), options);
  std::int64_t published = 0;
  const auto publish = [&] {
    std::vector<Event> events;
    for (int i = 0; i < 100; ++i) events.push_back(numbered(published++));
    const auto outcome = publisher.publish(events);
    EXPECT_TRUE(outcome) << outcome.error().to_string();
    EXPECT_NE(outcome->kind, Outcome::Kind::refused);
    if (outcome->kind == Outcome::Kind::unknown) {
      EXPECT_THAT(outcome->reason.message, testing::HasSubstr("journal.backlog_bytes"));
    }
    return outcome->kind;
  };
  while (publish() == Outcome::Kind::accepted) ASSERT_LT(published, 1'000'000);
  publish();  // another one, which waits behind it
  read(published - 200);
  acknowledge();
  EXPECT_EQ(publisher.flush().kind, Outcome::Kind::accepted);
  read(published);
  acknowledge();
  EXPECT_EQ(publisher.flush().published.duplicates, 0U);
}

TEST_F(CppRoom, WhatFoundNoneGetsItsTurnWhileThePublisherNeverPauses) {
  auto publisher = publisher_of(server_->address());
  std::atomic<std::int64_t> published = 0;
  const auto post_hundred = [&] {
    BatchBuilder batch;
    for (int i = 0; i < 100; ++i) batch.add(numbered(published++));
    ASSERT_TRUE(publisher.send(batch.batch()));
  };
  // Far more than there is room for.
  while (published < 3000) post_hundred();
  const std::int64_t first = published;
  std::atomic<bool> over = false;
  std::atomic<std::size_t> seen = 0;
  std::thread reading([&] {
    while (!over || seen < static_cast<std::size_t>(published)) {
      const auto delivery = reader_.next(10'000'000);
      ASSERT_TRUE(delivery) << delivery.error().to_string();
      if (!*delivery) continue;
      take(**delivery);
      if (++seen % 100 == 0) acknowledge();
    }
  });
  while (seen < static_cast<std::size_t>(first) && published < 10'000'000) {
    for (int i = 0; i < 3; ++i) post_hundred();
    publisher.run_for(1'000'000);
  }
  EXPECT_LT(published, 10'000'000);
  Outcome flushed = publisher.flush();
  while (flushed.kind == Outcome::Kind::unknown) flushed = publisher.flush();
  EXPECT_EQ(flushed.published.duplicates, 0U);
  over = true;
  reading.join();
  EXPECT_EQ(*got_.rbegin(), published - 1);
}

TEST_F(CppRoom, WhatFoundNoneGetsAnotherNumberWhereALaterOneIsApplied) {
  auto other = publisher_of(server_->address());
  post(other, large(0));
  ASSERT_EQ(other.flush().kind, Outcome::Kind::accepted);
  read(1);
  HoldingProxy proxy(server_->address(), kSmall);
  auto publisher = publisher_of(proxy.address());
  const std::size_t greeting = proxy.server_bytes();
  post(publisher, numbered(1));
  post(publisher, large(2));  // is held back
  await_answer(publisher, proxy, greeting);
  acknowledge();
  proxy.release();
  wait_until([&] {
    publisher.run_for(1'000'000);
    read_what_is_there();
    return got_.contains(2);
  });
  acknowledge();
  const Outcome outcome = publisher.flush();
  EXPECT_EQ(outcome.kind, Outcome::Kind::accepted) << outcome.reason.to_string();
  EXPECT_EQ(outcome.published.duplicates, 0U);
  read(3);
  EXPECT_EQ(got_, (std::set<std::int64_t>{0, 1, 2}));
}

TEST_F(CppRoom, WhatFoundNoneIsInDoubtWhereALaterOneWasAppliedByAnEarlierConnection) {
  HoldingProxy proxy(server_->address());
  auto publisher = publisher_of(proxy.address());
  const std::size_t greeting = proxy.server_bytes();
  proxy.mute();
  post(publisher, numbered(1));
  post(publisher, large(2));
  wait_until([&] {
    publisher.run_for(1'000'000);
    read_what_is_there();
    return got_.size() == 2;
  });
  proxy.cut(kSmall);
  await_answer(publisher, proxy, greeting);  // there is no room for the first one
  acknowledge();
  proxy.release();  // the second one is known
  const Outcome outcome = publisher.flush();
  EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
  EXPECT_EQ(outcome.reason.code, "unknown");
  EXPECT_EQ(outcome.published.duplicates, 1U);
  EXPECT_EQ(publisher.flush().kind, Outcome::Kind::accepted) << "it is told once";
  post(publisher, numbered(3));
  EXPECT_EQ(publisher.flush().kind, Outcome::Kind::accepted);
  read(3);
  EXPECT_EQ(got_, (std::set<std::int64_t>{1, 2, 3}));
}

}  // namespace
}  // namespace gorgo
