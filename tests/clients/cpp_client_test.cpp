#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/file.hpp"
#include "gorgo/publisher.hpp"
#include "gorgo/subscription.hpp"
#include "tests/clients/cutting_proxy.hpp"
#include "tests/server/process.hpp"
#include "tests/server/support.hpp"

namespace gorgo {
namespace {

using server::RunningServer;
using server::wait_until;

constexpr Duration kLong = 60'000'000'000;

Event numbered(std::int64_t n) { return {"Number", std::nullopt, {{"n", n}}}; }

std::int64_t number_in(const Event& event) {
  return std::get<std::int64_t>(event.attributes.at(0).value);
}

Publisher publisher_of(const std::string& address, PublisherOptions options = {}) {
  options.longest_pause = 20'000'000;
  auto publisher = Publisher::open(address, options);
  EXPECT_TRUE(publisher) << publisher.error().to_string();
  return *std::move(publisher);
}

Subscription subscription_of(const std::string& address, const std::string& text,
                             StreamOptions options = {}) {
  options.longest_pause = 20'000'000;
  auto subscription = Subscription::open(address, {text}, options);
  EXPECT_TRUE(subscription) << subscription.error().to_string();
  return *std::move(subscription);
}

/// The next item, which must come.
Item next(Subscription& subscription) {
  auto item = subscription.next(kLong);
  EXPECT_TRUE(item) << item.error().to_string();
  EXPECT_TRUE(item && *item) << "nothing came";
  return item && *item ? **std::move(item) : Item(Ended{});
}

/// The numbers of the events up to the end of the stream.
std::vector<std::int64_t> numbers(Subscription& subscription) {
  std::vector<std::int64_t> numbers;
  while (true) {
    const Item item = next(subscription);
    if (std::holds_alternative<Ended>(item)) return numbers;
    if (const auto* delivery = std::get_if<Delivery>(&item)) {
      numbers.push_back(number_in(delivery->event));
    }
  }
}

/// A server in a process of its own, which can be killed and started again where it was.
class RestartableServer {
 public:
  explicit RestartableServer(std::vector<std::string> arguments = {})
      : arguments_(std::move(arguments)) {
    start("127.0.0.1:0");
  }

  const std::string& address() const { return address_; }
  void kill() {
    process_->signal(SIGKILL);
    process_->wait();
    process_.reset();
  }
  void restart() { start(address_); }

 private:
  std::string address_;
  const std::vector<std::string> arguments_;
  std::optional<Process> process_;

  void start(const std::string& where) {
    std::vector<std::string> all = {"serve", "--listen", where};
    all.insert(all.end(), arguments_.begin(), arguments_.end());
    process_.emplace(all);
    address_ = address_in(process_->out_line());
  }
};

TEST(CppClient, PublishesRowsAndColumnsAndReadsBoth) {
  RunningServer server;
  auto subscription = subscription_of(server->address(), "Number");
  auto publisher = publisher_of(server->address());
  const auto rows = publisher.publish(std::vector<Event>{numbered(1), numbered(2)});
  ASSERT_TRUE(rows) << rows.error().to_string();
  EXPECT_EQ(rows->kind, Outcome::Kind::accepted);
  EXPECT_EQ(rows->published.accepted, 2U);

  const std::vector<std::int64_t> values = {3, 4, 5};
  EventTable table{
      "Number", 3, {}, {{.name = "n", .type = ValueType::integer, .integers = values}}};
  ASSERT_TRUE(publisher.publish(EventBatch{{table}, {}}));

  EXPECT_EQ(number_in(std::get<Delivery>(next(subscription)).event), 1);
  EXPECT_EQ(number_in(std::get<Delivery>(next(subscription)).event), 2);
  const auto item = subscription.next_batch(kLong);
  ASSERT_TRUE(item && *item);
  const auto& batch = std::get<DeliveredBatch>(**item);
  ASSERT_EQ(batch.events.tables.size(), 1U);
  EXPECT_THAT(batch.events.tables[0].columns[0].integers, testing::ElementsAre(3, 4, 5));
  EXPECT_LT(batch.place(0), batch.place(2));
}

TEST(CppClient, TellsWhichEventsWereRefusedAndWhy) {
  RunningServer server;
  auto client = server.connect();
  server::deploy(
      client,
      "event Number(n: int);\nrule copy: define Copy(n: int) from Number() where n = Number.n;");
  auto publisher = publisher_of(server->address());
  const Event wrong{"Number", std::nullopt, {{"n", std::string("seven")}}};
  const auto outcome = publisher.publish(std::vector<Event>{numbered(1), wrong, numbered(2)});
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  EXPECT_EQ(outcome->kind, Outcome::Kind::refused);
  EXPECT_EQ(outcome->published.accepted, 2U);
  ASSERT_EQ(outcome->published.refusals.size(), 1U);
  EXPECT_EQ(outcome->published.refusals[0].index, 1U);

  ASSERT_TRUE(publisher.send(numbered(3)));
  ASSERT_TRUE(publisher.send(wrong));
  const Outcome flushed = publisher.flush();
  EXPECT_EQ(flushed.kind, Outcome::Kind::refused);
  EXPECT_EQ(flushed.published.accepted, 1U);
  ASSERT_EQ(flushed.published.refusals.size(), 1U);
  EXPECT_EQ(flushed.published.refusals[0].index, 1U);
  EXPECT_EQ(publisher.flush().kind, Outcome::Kind::accepted) << "it is told once";
}

TEST(CppClient, DrainYieldsWhatWasDeliveredAndThenTheEnd) {
  RunningServer server;
  auto subscription = subscription_of(server->address(), "Number");
  auto publisher = publisher_of(server->address(), {.acknowledge = Acknowledge::processed});
  for (std::int64_t n = 0; n < 1000; ++n) ASSERT_TRUE(publisher.send(numbered(n)));
  EXPECT_EQ(publisher.drain().published.accepted, 1000U);
  ASSERT_TRUE(subscription.drain());
  EXPECT_EQ(numbers(subscription).size(), 1000U);
  EXPECT_TRUE(std::holds_alternative<Ended>(next(subscription)));
  EXPECT_FALSE(publisher.send(numbered(1)));
}

TEST(CppClient, SaysThatTheServerWasGoneAndThatEventsMayBeMissing) {
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

/// An empty folder, gone with the test.
class Folder {
 public:
  Folder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }

  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("gorgo_cpp_client_" + std::to_string(getpid()));
};

Subscription durable_of(const std::string& address, const std::string& name,
                        std::optional<Place> seen = {}) {
  StreamOptions options;
  options.subscribe.durable = name;
  options.seen = seen;
  auto opened = Subscription::open(address, {"Number"}, options);
  EXPECT_TRUE(opened) << opened.error().to_string();
  return *std::move(opened);
}

/// The next event, whatever notices stand before it.
Delivery next_event(Subscription& subscription) {
  while (true) {
    const Item item = next(subscription);
    EXPECT_FALSE(std::holds_alternative<Gap>(item)) << "nothing is missing";
    if (std::holds_alternative<Ended>(item)) return {0, {}, numbered(-1)};
    if (const auto* delivery = std::get_if<Delivery>(&item)) return *delivery;
  }
}

TEST(CppClient, GetsEachEventOnceThroughKillsOfTheServerWhereItsSubscriptionIsDurable) {
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

TEST(CppClient, SaysThatAServerWithAnotherJournalBeginsADurableSubscriptionAnew) {
  const Folder folder;
  RestartableServer server({"--journal", folder.path / "journal"});
  auto subscription = durable_of(server.address(), "billing");
  auto publisher = publisher_of(server.address(), {.acknowledge = Acknowledge::durable});
  ASSERT_TRUE(publisher.publish(std::vector<Event>{numbered(1), numbered(2)}));
  next_event(subscription);
  subscription.acknowledge(next_event(subscription).place);
  while (subscription.acknowledged() == Place()) ASSERT_TRUE(subscription.next(1'000'000));

  server.kill();
  std::filesystem::remove_all(folder.path / "journal");
  server.restart();
  EXPECT_TRUE(std::holds_alternative<Disconnected>(next(subscription)));
  EXPECT_TRUE(std::holds_alternative<Reconnected>(next(subscription)));
  EXPECT_FALSE(std::get<Gap>(next(subscription)).lost);
  ASSERT_TRUE(publisher.publish(std::vector<Event>{numbered(3)}));
  EXPECT_EQ(number_in(next_event(subscription).event), 3);
}

TEST(CppClient, EndsADurableSubscriptionThatAnotherHasTakenOver) {
  const Folder folder;
  RestartableServer server({"--journal", folder.path / "journal"});
  auto first = durable_of(server.address(), "billing");
  auto second = durable_of(server.address(), "billing");
  const auto ended = first.next(kLong);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, "NotFound");
  EXPECT_TRUE(second.is_connected());
}

TEST(CppClient, LeavesNoOutcomeInTheDarkWhileTheServerIsGone) {
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

TEST(CppClient, TakesNothingMoreThanItsLimitWhileTheServerIsGone) {
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

TEST(CppClient, SendsAgainWhatTheServerHasNoRoomFor) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("gorgo_room_" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  server::ServerOptions with;
  with.journal.path = folder.string();
  with.journal.backlog_bytes = std::size_t{1} << 16;
  with.journal.backlog_policy = server::BacklogPolicy::refuse;
  RunningServer server(with);
  Client reader = server.connect();
  ASSERT_TRUE(reader.subscribe("Number", {.durable = "slow"}));
  PublisherOptions options;
  options.client.timeout = 300'000'000;
  auto publisher = publisher_of(server->address(), options);
  std::int64_t published = 0;
  const auto publish = [&] {
    std::vector<Event> events;
    for (int i = 0; i < 100; ++i) events.push_back(numbered(published++));
    const auto outcome = publisher.publish(events);
    EXPECT_TRUE(outcome) << outcome.error().to_string();
    EXPECT_NE(outcome->kind, Outcome::Kind::refused);
    return outcome->kind;
  };
  std::set<std::int64_t> got;
  const auto read = [&](std::int64_t until) {
    Place last;
    while (got.size() < static_cast<std::size_t>(until)) {
      const auto delivery = reader.next(kLong);
      ASSERT_TRUE(delivery && *delivery) << got.size() << " of " << published;
      ASSERT_TRUE(got.insert(number_in((*delivery)->event)).second) << "doubled";
      last = (*delivery)->place;
    }
    ASSERT_TRUE(reader.acknowledge("slow", last));
  };
  while (publish() == Outcome::Kind::accepted) ASSERT_LT(published, 1'000'000);
  publish();  // another one that finds no room
  read(published - 200);
  EXPECT_EQ(publisher.flush().kind, Outcome::Kind::accepted);
  read(published);

  // One that finds room is applied before one that was put off, which needs another number then.
  while (publish() == Outcome::Kind::accepted) ASSERT_LT(published, 1'000'000);
  read(published - 100);
  EXPECT_EQ(publish(), Outcome::Kind::accepted);
  EXPECT_EQ(publisher.flush().published.duplicates, 0U);
  read(published);
  EXPECT_EQ(publisher.flush().kind, Outcome::Kind::accepted);
  server.stop();
  std::filesystem::remove_all(folder);
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

TEST(CppClient, AppliesPublicationsOnceWhereverItsBytesAreCut) {
  publish_through_cuts(CuttingProxy::Side::client);
}

TEST(CppClient, AppliesPublicationsOnceWhereverTheServersBytesAreCut) {
  publish_through_cuts(CuttingProxy::Side::server);
}

TEST(CppClient, NumbersItsSubscriptionsLossesByNoticesWhereverBytesAreCut) {
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

TEST(CppClient, ReadsNothingMoreThanItsLimitWhenItsReaderIsSlow) {
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

TEST(CppClient, LosesAndDoublesNoneOfAMillionEvents) {
  RunningServer server;
  auto subscription = subscription_of(server->address(), "Number");
  constexpr std::int64_t kEvents = 1'000'000;
  std::thread feeder([address = server->address()] {
    auto publisher = publisher_of(address);
    for (std::int64_t n = 0; n < kEvents; ++n) ASSERT_TRUE(publisher.send(numbered(n)));
    EXPECT_EQ(publisher.drain().published.accepted, static_cast<std::uint64_t>(kEvents));
  });
  std::int64_t events = 0;
  std::uint64_t checksum = 0, wanted = 0;
  while (events < kEvents) {
    const auto item = subscription.next_batch(kLong);
    ASSERT_TRUE(item && *item);
    const auto* batch = std::get_if<DeliveredBatch>(&**item);
    ASSERT_NE(batch, nullptr);
    for (const std::int64_t n : batch->events.tables[0].columns[0].integers) {
      checksum = checksum * 31 + static_cast<std::uint64_t>(n);
      ++events;
    }
  }
  feeder.join();
  for (std::int64_t n = 0; n < kEvents; ++n) wanted = wanted * 31 + static_cast<std::uint64_t>(n);
  EXPECT_EQ(checksum, wanted);
}

Task<> feed(Loop& loop, std::string address, std::int64_t& accepted) {
  auto publisher = co_await Publisher::async_open(loop, address);
  EXPECT_TRUE(publisher) << publisher.error().to_string();
  for (std::int64_t n = 0; n < 100; ++n) {
    const std::vector<Event> event = {numbered(n)};
    const auto outcome = co_await publisher->async_publish(event);
    EXPECT_TRUE(outcome) << outcome.error().to_string();
    accepted += static_cast<std::int64_t>(outcome->published.accepted);
  }
  co_await publisher->async_drain();
}

Task<> watch(Loop& loop, std::string address, std::int64_t& accepted, std::int64_t& seen) {
  const std::vector<std::string> texts(1, "Number");  // GCC 12 cannot do it within the co_await
  auto subscription = co_await Subscription::async_open(loop, address, texts);
  EXPECT_TRUE(subscription) << subscription.error().to_string();
  loop.spawn(feed(loop, address, accepted));
  while (seen < 100) {
    const auto item = co_await subscription->async_next();
    EXPECT_TRUE(item) << item.error().to_string();
    EXPECT_EQ(number_in(std::get<Delivery>(*item).event), seen);
    ++seen;
  }
  const auto drained = co_await subscription->async_drain();
  EXPECT_TRUE(drained) << drained.error().to_string();
}

TEST(CppClient, ServesSeveralCoroutinesOnOneThread) {
  RunningServer server;
  Loop loop;
  std::int64_t accepted = 0, seen = 0;
  loop.spawn(watch(loop, server->address(), accepted, seen));
  loop.run();
  EXPECT_EQ(accepted, 100);
  EXPECT_EQ(seen, 100);
}

Task<> wait_for_ever(Loop& loop, std::string address, bool& waiting) {
  const std::vector<std::string> texts(1, "Number");  // GCC 12 cannot do it within the co_await
  auto subscription = co_await Subscription::async_open(loop, address, texts);
  waiting = true;
  (void)co_await subscription->async_next();
  ADD_FAILURE() << "nothing was published";
}

TEST(CppClient, EndsWithTasksThatStillWait) {
  RunningServer server;
  Loop loop;
  bool waiting = false;
  loop.spawn(wait_for_ever(loop, server->address(), waiting));
  while (!waiting) loop.poll();
}

TEST(CppClient, GivesUpWhatTheServerWillNeverTake) {
  RunningServer server;
  const auto wrong = Subscription::open(server->address(), {"Number(n >"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, "Invalid");
  const auto nobody = Publisher::open("127.0.0.1:1");
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, "connect");
}

TEST(CppClientReadme, ShowsWhatItsExamplesDo) {
  const std::filesystem::path folder = GORGO_CPP_CLIENT;
  std::string examples;
  for (const char* name : {"first_fire.cpp", "columns.cpp", "coroutines.cpp"}) {
    examples += *read_file(folder / "examples" / name, 1 << 20);
  }
  const std::string readme = *read_file(folder / "README.md", 1 << 20);
  const std::string fence = "```cpp\n";
  std::size_t blocks = 0;
  for (auto at = readme.find(fence); at != readme.npos; at = readme.find(fence, at + 1), ++blocks) {
    const auto begin = at + fence.size();
    const std::string block = readme.substr(begin, readme.find("```", begin) - begin);
    EXPECT_NE(examples.find(block), examples.npos) << block;
  }
  EXPECT_EQ(blocks, 2U);
}

}  // namespace
}  // namespace gorgo
