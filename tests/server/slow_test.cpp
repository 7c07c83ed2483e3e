#include <gmock/gmock.h>

#include <functional>
#include <thread>

#include "support.hpp"

// What becomes of subscribers that are slow, by the policy of their subscription, and of others.
namespace gorgo::server {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

ServerOptions small_outbox() {
  ServerOptions options;
  options.limits.outbound_bytes = 1 << 20;
  return options;
}

void subscribe_slowly(RawConnection& raw, const std::string& text, wire::SlowPolicy slow,
                      std::optional<std::uint64_t> credit_rows = std::nullopt) {
  wire::SubscribeT subscribe;
  subscribe.subscription = 1;
  subscribe.text = text;
  subscribe.slow = slow;
  if (credit_rows) subscribe.credit_rows = *credit_rows;
  raw.send(2, subscribe);
  raw.expect<wire::Ack>(2);
}

/// Publishes events of 50 kB until `enough()`; returns how many.
std::uint64_t flood(Client& client, const std::function<bool()>& enough) {
  const std::vector<Event> events(20,
                                  Event{"Big", std::nullopt, {{"s", std::string(50'000, 'x')}}});
  std::uint64_t sent = 0;
  while (!enough()) {
    const auto published = client.publish(events);
    EXPECT_TRUE(published) << published.error().to_string();
    if (!published) break;
    sent += published->accepted;
  }
  return sent;
}

/// What a subscriber to everything got. Every place must be delivered or lie in a gap.
struct Account {
  std::uint64_t delivered = 0, lost = 0, last_root = 0;
  std::optional<wire::ErrorT> error;

  std::uint64_t all() const { return delivered + lost; }
  void take(const wire::Deliver& deliver) {
    if (deliver.lost() > 0) {
      EXPECT_EQ(deliver.first_lost_root(), last_root + 1);
      EXPECT_EQ(deliver.last_lost_root(), last_root + deliver.lost());
      last_root = deliver.last_lost_root();
    }
    for (const std::uint64_t root : *deliver.roots()) EXPECT_EQ(root, ++last_root);
    delivered += deliver.roots()->size();
    lost += deliver.lost();
  }
  /// False: the connection ended.
  bool read_frame(RawConnection& from) {
    const auto frame = from.receive();
    if (!frame) return false;
    const auto message = protocol::open_frame(*frame);
    EXPECT_TRUE(message);
    if (const auto* deliver = (*message)->body_as_Deliver()) take(*deliver);
    if (const auto* e = (*message)->body_as_Error()) e->UnPackTo(&error.emplace());
    return true;
  }
};

class SlowSubscriber : public testing::Test {
 protected:
  std::optional<RunningServer> server;
  std::optional<RawConnection> slow;
  std::optional<Client> publisher;
  std::thread fast_thread;
  Account fast_account;
  std::optional<RawConnection> fast;

  void start(const ServerOptions& options, wire::SlowPolicy policy,
             std::optional<std::uint64_t> credit_rows = std::nullopt) {
    server.emplace(options);
    slow.emplace((*server)->address());
    slow->greet();
    subscribe_slowly(*slow, "Big", policy, credit_rows);
    publisher.emplace(server->connect());
  }
  /// Another subscriber, which reads all the time and makes publishers wait for it if need be.
  void start_fast() {
    fast_account = {};
    fast.emplace((*server)->address());
    fast->greet();
    subscribe_slowly(*fast, "Big", wire::SlowPolicy::Block);
    fast_thread = std::thread([this] {
      while (fast_account.read_frame(*fast)) {
      }
      fast->close();
    });
  }
  std::uint64_t flood_until(const std::function<bool()>& enough) {
    return flood(*publisher, enough);
  }
  void expect_everything_fast(std::uint64_t sent) {
    server->stop();
    fast_thread.join();
    EXPECT_EQ(fast_account.delivered, sent);
    EXPECT_EQ(fast_account.lost, 0u);
  }
};

TEST_F(SlowSubscriber, LosesTheOldestAndIsToldWhichPlaces) {
  start(small_outbox(), wire::SlowPolicy::Drop);
  const auto sent = flood_until([&] { return (*server)->counters().lost_rows > 100; });
  Account account;
  while (account.all() < sent && account.read_frame(*slow)) {
  }
  EXPECT_EQ(account.all(), sent);
  EXPECT_EQ(account.lost, (*server)->counters().lost_rows);
  EXPECT_EQ(account.last_root, sent);
  EXPECT_FALSE(account.error);
}

TEST_F(SlowSubscriber, HasPublishersWaitAndLosesNothing) {
  auto options = small_outbox();
  options.limits.block = milliseconds(60'000);
  start(options, wire::SlowPolicy::Block);
  std::atomic<bool> waited = false;
  std::uint64_t sent = 0;
  std::thread publishing([&] { sent = flood_until([&] { return waited.load(); }); });
  wait_until([&] { return (*server)->counters().subscriber_waits > 0; });
  waited = true;
  Account account;
  // Until its publisher is told that its last events are accepted, it cannot know how many come.
  std::thread stopping([&] {
    publishing.join();
    server->stop();
  });
  while (account.read_frame(*slow)) {
  }
  slow->close();
  stopping.join();
  EXPECT_EQ(account.delivered, sent);
  EXPECT_EQ(account.lost, 0u);
  EXPECT_EQ((*server)->counters().slow_consumers, 0u);
}

TEST_F(SlowSubscriber, IsDisconnectedWhenPublishersHaveWaitedLongEnough) {
  auto options = small_outbox();
  options.limits.block = milliseconds(20);
  start(options, wire::SlowPolicy::Block);
  flood_until([&] { return (*server)->counters().slow_consumers > 0; });
  Account account;
  while (account.read_frame(*slow)) {
  }
  ASSERT_TRUE(account.error);
  EXPECT_EQ(account.error->code, wire::ErrorCode::Overloaded);
  EXPECT_THAT(account.error->message, HasSubstr("publishers have waited for it for 20 ms"));
  EXPECT_GT(account.lost, 0u);
}

TEST_F(SlowSubscriber, DoesNotHarmOthers) {
  for (const auto policy : {wire::SlowPolicy::Drop, wire::SlowPolicy::Disconnect}) {
    auto options = small_outbox();
    options.limits.block = milliseconds(60'000);
    start(options, policy);
    start_fast();
    const auto sent = flood_until([&] {
      return (*server)->counters().lost_rows > 100 || (*server)->counters().slow_consumers > 0;
    });
    slow->close();
    expect_everything_fast(sent);
  }
}

TEST_F(SlowSubscriber, ThatTakesNothingIsDisconnectedBelowItsLimitOfBytes) {
  ServerOptions options;
  options.limits.stalled = milliseconds(50);
  start(options, wire::SlowPolicy::Disconnect);
  int rounds = 0;
  const auto sent = flood_until([&] { return ++rounds > 30; });  // 30 MB of 64
  wait_until([&] { return (*server)->counters().slow_consumers > 0; });
  Account account;
  while (account.read_frame(*slow)) {
  }
  ASSERT_TRUE(account.error);
  EXPECT_THAT(account.error->message, HasSubstr("has taken nothing for 50 ms"));
  EXPECT_GT(account.lost, 0u);
  EXPECT_LE(account.all(), sent);
}

TEST_F(SlowSubscriber, ForWhomMuchHasWaitedForLongIsDisconnected) {
  ServerOptions options;
  options.limits.soft_outbound_bytes = 1 << 20;
  options.limits.soft_outbound = milliseconds(50);
  start(options, wire::SlowPolicy::Disconnect);
  int rounds = 0;
  const auto sent = flood_until([&] { return ++rounds > 30; });
  wait_until([&] { return (*server)->counters().slow_consumers > 0; });
  Account account;
  while (account.read_frame(*slow)) {
  }
  ASSERT_TRUE(account.error);
  EXPECT_THAT(account.error->message, HasSubstr("have waited for this client for 50 ms"));
  EXPECT_GT(account.lost, 0u);
  EXPECT_LE(account.all(), sent);
}

TEST_F(SlowSubscriber, MemoryStaysWithinItsBoundWhateverThePolicies) {
  auto options = small_outbox();
  options.limits.max_frame = 1 << 20;
  options.limits.outbound_bytes = 8 << 20;
  options.limits.memory_bytes = 24 << 20;
  options.limits.block = milliseconds(20);
  start(options, wire::SlowPolicy::Drop);
  std::vector<std::unique_ptr<RawConnection>> others;
  for (int i = 0; i < 12; ++i) {
    others.push_back(std::make_unique<RawConnection>((*server)->address()));
    others.back()->greet();
    // Different texts, so that nothing is shared.
    subscribe_slowly(*others.back(), "Big(timestamp != " + std::to_string(i) + ")",
                     static_cast<wire::SlowPolicy>(1 + i % 3));
  }
  // Small publications, so that their publisher never holds most.
  const std::vector<Event> events(2, Event{"Big", std::nullopt, {{"s", std::string(50'000, 'x')}}});
  std::uint64_t most = 0;
  for (int round = 0; round < 400; ++round) {
    ASSERT_TRUE(publisher->publish(events));
    most = std::max(most, (*server)->counters().memory_bytes);
  }
  // One delivery, a request and what sessions in disfavour still write may come on top for a
  // moment.
  EXPECT_LT(most, options.limits.memory_bytes + (13 << 20));
  EXPECT_GT((*server)->counters().lost_rows, 0u);
}

TEST(UnknownPolicy, IsRefused) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  wire::SubscribeT subscribe;
  subscribe.text = "Temp";
  subscribe.slow = static_cast<wire::SlowPolicy>(9);
  raw.send(2, subscribe);
  const auto error = raw.expect<wire::Error>(2);
  EXPECT_EQ(error.code, wire::ErrorCode::Invalid);
  EXPECT_THAT(error.hint, HasSubstr("Drop"));
}

class Credits : public SlowSubscriber {
 protected:
  void allow(std::uint64_t rows, std::uint64_t bytes = 0, std::uint32_t subscription = 1) {
    wire::CreditT credit;
    credit.subscription = subscription;
    credit.rows = rows;
    credit.bytes = bytes;
    slow->send(9, credit);
  }
  void publish(int events) {
    const auto processed = publisher->publish(
        std::vector<Event>(events, Event{"Big", std::nullopt, {{"s", std::string("x")}}}),
        {.acknowledge = Acknowledge::processed});
    ASSERT_TRUE(processed);
  }
  /// Nothing is on its way to the client: what it asks for comes first.
  void expect_silence() {
    slow->send(8, wire::PingT());
    slow->expect<wire::Pong>(8);
  }
};

TEST_F(Credits, SoManyRowsComeAsWereAllowed) {
  start(ServerOptions(), wire::SlowPolicy::Default, 3);
  publish(10);
  Account account;
  while (account.delivered < 3) ASSERT_TRUE(account.read_frame(*slow));
  EXPECT_EQ(account.delivered, 3u);
  expect_silence();
  allow(2);
  while (account.delivered < 5) ASSERT_TRUE(account.read_frame(*slow));
  expect_silence();
  allow(100);
  while (account.delivered < 10) ASSERT_TRUE(account.read_frame(*slow));
  publish(95);
  while (account.delivered < 105) ASSERT_TRUE(account.read_frame(*slow));
  expect_silence();
  EXPECT_EQ(account.lost, 0u);
}

TEST_F(Credits, OtherSubscriptionsGoOn) {
  start(ServerOptions(), wire::SlowPolicy::Default, 0);
  wire::SubscribeT other;
  other.subscription = 2;
  other.text = "Big";
  slow->send(3, other);
  slow->expect<wire::Ack>(3);
  publish(2);
  const auto delivered = slow->expect<wire::Deliver>(0);
  EXPECT_EQ(delivered.subscriptions, std::vector<std::uint32_t>{2});
  EXPECT_EQ(delivered.roots.size(), 2u);
  allow(2);
  EXPECT_EQ(slow->expect<wire::Deliver>(0).subscriptions, std::vector<std::uint32_t>{1});
}

TEST_F(Credits, WhatWaitsIsBoundedByThePolicy) {
  start(small_outbox(), wire::SlowPolicy::Drop, 0);
  const auto sent = flood_until([&] { return (*server)->counters().lost_rows > 100; });
  allow(sent);
  Account account;
  while (account.all() < sent && account.read_frame(*slow)) {
  }
  EXPECT_EQ(account.all(), sent);
  EXPECT_GT(account.lost, 100u);
}

TEST_F(Credits, PublishersThatWaitForCreditAreLetGo) {
  auto options = small_outbox();
  options.limits.block = milliseconds(60'000);
  start(options, wire::SlowPolicy::Block, 0);
  std::atomic<bool> waited = false;
  std::uint64_t sent = 0;
  std::thread publishing([&] { sent = flood_until([&] { return waited.load(); }); });
  wait_until([&] { return (*server)->counters().subscriber_waits > 0; });
  waited = true;
  allow(1'000'000);
  std::thread stopping([&] {
    publishing.join();
    server->stop();
  });
  Account account;
  while (account.read_frame(*slow)) {
  }
  slow->close();
  stopping.join();
  EXPECT_EQ(account.delivered, sent);
  EXPECT_EQ(account.lost, 0u);
}

TEST_F(Credits, RowsWithoutCreditAreToldAsLostAtTheEnd) {
  start(ServerOptions(), wire::SlowPolicy::Default, 1);
  publish(5);
  wire::UnsubscribeT unsubscribe;
  unsubscribe.subscription = 1;
  slow->send(3, unsubscribe);
  Account account;
  while (account.all() < 5) ASSERT_TRUE(account.read_frame(*slow));
  EXPECT_EQ(account.delivered, 1u);
  EXPECT_EQ(account.lost, 4u);
  slow->expect<wire::Ack>(3);
}

TEST_F(Credits, CreditForAnUnknownSubscriptionIsAnError) {
  start(ServerOptions(), wire::SlowPolicy::Default);
  allow(5, 0, 7);
  EXPECT_EQ(slow->expect<wire::Error>(9).code, wire::ErrorCode::NotFound);
  allow(5);  // a subscription that needs none
  EXPECT_EQ(slow->expect<wire::Error>(9).code, wire::ErrorCode::NotFound);
}

}  // namespace
}  // namespace gorgo::server
