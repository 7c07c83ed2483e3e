#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/clients/cpp_support.hpp"
#include "tests/clients/cutting_proxy.hpp"
#include "tests/clients/holding_proxy.hpp"

/// The C++ client with lost connections, dead servers and slow readers.
namespace gorgo {
namespace {

TEST(CppFaults, SaysThatTheServerWasGoneAndThatEventsMayBeMissing) {
  RestartableServer server;
  auto subscription = subscription_of(server.address(), "Number");
  auto publisher = publisher_of(server.address());
  ASSERT_TRUE(publisher.publish(std::vector<Event>{numbered(1)}));
  EXPECT_EQ(number_in(std::get<Delivery>(next(subscription)).event), 1);

  server.kill();
  EXPECT_EQ(std::get<Disconnected>(next(subscription)).reason.code, "connect");
  server.restart();
  EXPECT_GE(std::get<Reconnected>(next(subscription)).attempts, 1U);
  EXPECT_FALSE(std::get<Gap>(next(subscription)).lost) << "nobody knows how many";
  ASSERT_TRUE(publisher.publish(std::vector<Event>{numbered(2)}));
  EXPECT_EQ(number_in(std::get<Delivery>(next(subscription)).event), 2);
  EXPECT_EQ(publisher.reconnections(), 1U);
}

TEST(CppFaults, LeavesNoOutcomeInTheDarkWhileTheServerIsGone) {
  RestartableServer server;
  PublisherOptions options;
  options.client.timeout = 200'000'000;
  auto publisher = publisher_of(server.address(), options);
  server.kill();
  const auto outcome = publisher.publish(std::vector<Event>{numbered(1)});
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  EXPECT_EQ(outcome->kind, Outcome::Kind::unknown);
  EXPECT_EQ(outcome->reason.code, "unknown");

  server.restart();
  Outcome flushed = publisher.flush();
  while (flushed.kind == Outcome::Kind::unknown) flushed = publisher.flush();
  EXPECT_EQ(flushed.kind, Outcome::Kind::accepted);
  EXPECT_EQ(flushed.published.accepted, 1U);
}

TEST(CppFaults, RepliesMayBeWaitedForOtherwiseThanConnections) {
  RestartableServer server;
  HoldingProxy proxy(server.address());
  ClientOptions options;
  options.timeout = kLong;
  options.reply_timeout =
      2'000'000'000;  // the answer to the greeting takes a moment on busy machines
  auto client = Client::connect(proxy.address(), options);
  ASSERT_TRUE(client) << client.error().to_string();
  proxy.mute();
  const auto rules = client->rules();
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, "timeout");
  EXPECT_EQ(rules.error().message, "no answer from " + proxy.address() + " within 2000 ms");
}

TEST(CppFaults, TheGreetingIsWaitedForAsConnectionsAre) {
  using boost::asio::ip::tcp;
  boost::asio::io_context io;
  // The system accepts connections there, and nobody answers.
  const tcp::acceptor silent(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  const std::string address = "127.0.0.1:" + std::to_string(silent.local_endpoint().port());
  ClientOptions options;
  options.timeout = 300'000'000;
  options.reply_timeout = kLong;
  options.heartbeats = true;
  const auto client = Client::connect(address, options);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().message, "no answer from " + address + " within 300 ms");
}

TEST(CppFaults, TakesNothingMoreThanItsLimitWhileTheServerIsGone) {
  RestartableServer server;
  PublisherOptions options{.batch = 10, .publish_bytes = 4096};
  options.client.timeout = 2'000'000'000;  // the connection takes a moment under sanitizers
  auto publisher = publisher_of(server.address(), options);
  server.kill();
  Result<void> sent;
  std::uint64_t taken = 0;
  for (; sent; ++taken) sent = publisher.send(numbered(static_cast<std::int64_t>(taken)));
  EXPECT_EQ(sent.error().code, "timeout");
  EXPECT_LT(publisher.waiting_bytes(), 2 * 4096U);
  server.restart();
  Outcome flushed = publisher.flush();
  while (flushed.kind == Outcome::Kind::unknown) flushed = publisher.flush();
  EXPECT_EQ(flushed.published.accepted, taken - 1) << "and all that it took arrives";
}

/// Publishes through a proxy that breaks each connection a byte later than the one before.
void publish_through_cuts(CuttingProxy::Side side) {
  RunningServer server;
  auto subscription = subscription_of(server->address(), "Number");
  std::vector<std::size_t> cuts = {400};  // the first one gets through the greeting
  for (std::size_t at = 0; at < 500; ++at) cuts.push_back(at);
  CuttingProxy proxy(server->address(), side, cuts);
  PublisherOptions options{.acknowledge = Acknowledge::processed};
  options.longest_pause = 1;
  options.client.timeout = kLong;
  auto publisher = Publisher::open(proxy.address(), options);
  ASSERT_TRUE(publisher) << publisher.error().to_string();
  std::int64_t published = 0;
  while (proxy.connections() <= cuts.size()) {
    const auto outcome = publisher->publish(std::vector<Event>{numbered(published++)});
    ASSERT_TRUE(outcome) << outcome.error().to_string();
    ASSERT_EQ(outcome->kind, Outcome::Kind::accepted) << outcome->reason.to_string();
  }
  publisher->drain();
  ASSERT_TRUE(subscription.drain());
  const auto got = numbers(subscription);
  EXPECT_EQ(got.size(), static_cast<std::size_t>(published)) << "each event once";
  EXPECT_EQ(std::set<std::int64_t>(got.begin(), got.end()).size(), got.size());
}

TEST(CppFaults, AppliesPublicationsOnceWhereverItsBytesAreCut) {
  publish_through_cuts(CuttingProxy::Side::client);
}

TEST(CppFaults, AppliesPublicationsOnceWhereverTheServersBytesAreCut) {
  publish_through_cuts(CuttingProxy::Side::server);
}

TEST(CppFaults, NumbersItsSubscriptionsLossesByNoticesWhereverBytesAreCut) {
  RunningServer server;
  std::vector<std::size_t> cuts = {2000};
  for (std::size_t at = 0; at < 500; at += 3) cuts.push_back(at);
  CuttingProxy proxy(server->address(), CuttingProxy::Side::server, cuts);
  StreamOptions options;
  options.longest_pause = 1;
  auto subscription = Subscription::open(proxy.address(), {"Number"}, options);
  ASSERT_TRUE(subscription) << subscription.error().to_string();
  auto publisher = publisher_of(server->address());
  std::int64_t last = -1, published = 0;
  bool gap = true;
  std::size_t gaps = 0;
  while (proxy.connections() <= cuts.size() || last + 1 < published) {
    if (proxy.connections() <= cuts.size()) {
      ASSERT_TRUE(publisher.publish(std::vector<Event>{numbered(published++)}));
    }
    const auto item = subscription->next(1'000'000);
    ASSERT_TRUE(item) << item.error().to_string();
    if (!*item) {
      ASSERT_TRUE(publisher.publish(std::vector<Event>{numbered(published++)}));
      continue;
    }
    if (std::holds_alternative<Gap>(**item)) gap = true, ++gaps;
    if (const auto* delivery = std::get_if<Delivery>(&**item)) {
      const std::int64_t n = number_in(delivery->event);
      EXPECT_TRUE(gap ? n > last : n == last + 1) << n << " behind " << last;
      gap = false;
      last = n;
    }
  }
  EXPECT_GE(gaps, 1U);
}

TEST(CppFaults, ReadsNothingMoreThanItsLimitWhenItsReaderIsSlow) {
  RunningServer server;
  StreamOptions options{.subscribe = {.slow = SlowPolicy::block}, .receive_bytes = 10'000};
  auto subscription = subscription_of(server->address(), "Number", options);
  auto publisher = publisher_of(server->address());
  constexpr std::int64_t kEvents = 20'000;
  for (std::int64_t n = 0; n < kEvents; ++n) ASSERT_TRUE(publisher.send(numbered(n)));
  EXPECT_EQ(publisher.flush().published.accepted, static_cast<std::uint64_t>(kEvents));
  for (std::int64_t n = 0; n < kEvents; ++n) {
    ASSERT_EQ(number_in(std::get<Delivery>(next(subscription)).event), n);
  }
  EXPECT_GE(subscription.times_full(), 1U);
}

}  // namespace
}  // namespace gorgo
