#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/file.hpp"
#include "tests/clients/cpp_support.hpp"

/// The C++ client with a server that is well.
namespace gorgo {
namespace {

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
  // A busy server may hand out the events of a publication in parts.
  std::vector<std::int64_t> numbers;
  std::vector<Place> places;
  while (numbers.size() < values.size()) {
    const auto item = subscription.next_batch(kLong);
    ASSERT_TRUE(item && *item);
    const auto& batch = std::get<DeliveredBatch>(**item);
    ASSERT_EQ(batch.events.tables.size(), 1U);
    const auto some = batch.events.tables[0].columns[0].integers;
    numbers.insert(numbers.end(), some.begin(), some.end());
    for (std::uint32_t i = 0; i < some.size(); ++i) places.push_back(batch.place(i));
  }
  EXPECT_EQ(numbers, values);
  EXPECT_TRUE(std::ranges::is_sorted(places));
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

/// Events that the server would refuse together with all others of their frame.
std::vector<Event> spoilers() {
  const auto of_type = [](std::string type) { return Event{std::move(type), std::nullopt, {}}; };
  const auto with = [](std::string name, std::string text) {
    return Event{"Number", std::nullopt, {{std::move(name), std::move(text)}}};
  };
  Event wide = of_type("Number");
  for (int i = 0; i <= 4096; ++i) {
    wide.attributes.push_back({"a" + std::to_string(i), std::int64_t{i}});
  }
  return {of_type("*"),      of_type(""),
          of_type("\xfc"),   of_type(std::string(1025, 't')),
          with("", "x"),     with("\xfc", "x"),
          with("n", "\xfc"), with(std::string(1025, 'n'), "x"),
          std::move(wide),   with("n", std::string(std::size_t{17} << 20, 'x'))};
}

TEST(CppClient, AnEventThatNoFrameCanHaveSpoilsNoOther) {
  RunningServer server;
  auto publisher = publisher_of(server->address());
  for (const Event& spoiler : spoilers()) {
    for (std::int64_t n = 0; n < 20; ++n) {
      const auto sent = publisher.send(n == 10 ? spoiler : numbered(n));
      EXPECT_EQ(static_cast<bool>(sent), n != 10);
      if (!sent) EXPECT_THAT(sent.error().message, testing::StartsWith("event 10"));
    }
    const Outcome flushed = publisher.flush();
    EXPECT_EQ(flushed.kind, Outcome::Kind::accepted);
    EXPECT_EQ(flushed.published.accepted, 19U);

    const auto published = publisher.publish(std::vector<Event>{numbered(1), spoiler});
    ASSERT_FALSE(published);
    EXPECT_THAT(published.error().message, testing::StartsWith("event 1"));
  }
}

TEST(CppClient, EventsWithManyAttributesDoNotHoldUpEachOther) {
  RunningServer server;
  auto publisher = publisher_of(server->address());
  for (const int first : {0, 3000, 6000}) {
    Event wide{"Wide", std::nullopt, {}};
    for (int i = first; i < first + 3000; ++i) {
      wide.attributes.push_back({"a" + std::to_string(i), std::int64_t{i}});
    }
    ASSERT_TRUE(publisher.send(wide));
  }
  EXPECT_EQ(publisher.flush().published.accepted, 3U);
}

Task<> send_spoilers(Loop& loop, std::string address, std::uint64_t& accepted) {
  auto publisher = co_await Publisher::async_open(loop, address);
  EXPECT_TRUE(publisher) << publisher.error().to_string();
  for (const Event& spoiler : spoilers()) {
    const Event fine = numbered(1);
    EXPECT_TRUE(co_await publisher->async_send(fine));
    EXPECT_FALSE(co_await publisher->async_send(spoiler));
    const std::vector<Event> both = {fine, spoiler};
    EXPECT_FALSE(co_await publisher->async_publish(both));
  }
  accepted = (co_await publisher->async_drain()).published.accepted;
}

TEST(CppClient, AnEventThatNoFrameCanHaveSpoilsNoOtherOfACoroutine) {
  RunningServer server;
  Loop loop;
  std::uint64_t accepted = 0;
  loop.spawn(send_spoilers(loop, server->address(), accepted));
  loop.run();
  EXPECT_EQ(accepted, spoilers().size());
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

TEST(CppClient, LosesAndDoublesNoneOfAMillionEvents) {
  RunningServer server;
  auto subscription = subscription_of(server->address(), "Number");
#ifdef GORGO_SANITIZED
  constexpr std::int64_t kEvents = 100'000;  // more take longer than `drain` waits
#else
  constexpr std::int64_t kEvents = 1'000'000;
#endif
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

TEST(CppClient, WantsANumberFromWhoNamesAProducer) {
  RunningServer server;
  const auto open = Publisher::open(server->address(), {.client = {.producer = 7}});
  ASSERT_FALSE(open);
  EXPECT_THAT(open.error().message, testing::HasSubstr("no number"));
  EXPECT_TRUE(Publisher::open(server->address(), {.client = {.producer = 7}, .first_sequence = 1}));
  auto client = Client::connect(server->address(), {.producer = 8});
  ASSERT_TRUE(client);
  const std::vector<Event> events = {{"A", std::nullopt, {}}};
  EXPECT_THAT(client->publish(events).error().message, testing::HasSubstr("no number"));
  EXPECT_EQ(client->publish(events, {.sequence = 5})->accepted, 1u);
  EXPECT_EQ(client->publish(events)->sequence, 6u);
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
