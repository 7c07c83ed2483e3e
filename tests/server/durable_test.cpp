// What a durable subscription gets, over connections and crashes: every event since it began, until
// it was acknowledged.

#include <gmock/gmock.h>

#include <thread>

#include "http_support.hpp"
#include "recovery_support.hpp"

namespace gorgo::server {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

class DurableTest : public RecoveryTest {};

constexpr const char* kEcho = "rule echo: define Echo(v: int) from A(v > 0) where v = A.v;";

Event a(Timestamp at, std::int64_t v) { return {"A", at * kSecond, {{"v", v}}}; }

void subscribe_durably(Client& client, const std::string& name, const std::string& text = "Echo") {
  const auto subscribed = client.subscribe(text, {.durable = name});
  ASSERT_TRUE(subscribed) << subscribed.error().to_string();
  ASSERT_FALSE(subscribed->diagnostics.failed()) << subscribed->diagnostics.render();
}

Place place_of(Client& client) { return next(client).place; }

std::vector<std::string> take(Client& client, int count) {
  std::vector<std::string> list;
  for (int i = 0; i < count; ++i) list.push_back(text_of(next(client)));
  return list;
}

TEST_P(DurableTest, ASecondConnectionGetsWhatTheFirstDidNotAcknowledge) {
  RunningServer server(options(journal()));
  Client publisher = server.connect();
  deploy(publisher, kEcho);
  std::vector<std::string> first;
  {
    Client client = server.connect();
    subscribe_durably(client, "billing");
    publish(publisher, std::vector<Event>{a(1, 1), a(2, 2), a(3, 3)});
    first = take(client, 1);
    const Place second = place_of(client);
    ASSERT_TRUE(client.acknowledge("billing", second));
    first = take(client, 1);
  }
  publish(publisher, std::vector<Event>{a(4, 4)});
  Client client = server.connect();
  subscribe_durably(client, "billing");
  const auto rest = take(client, 2);
  EXPECT_EQ(rest[0], first[0]);
  EXPECT_THAT(rest[1], HasSubstr("4-1 Echo"));
}

TEST_P(DurableTest, WhatWasNotAcknowledgedComesAgainAfterACrashWithTheSameIds) {
  fs::path copy;
  std::vector<std::string> before;
  {
    RunningServer server(options(journal()));
    Client client = server.connect();
    deploy(client, kEcho);
    publish(client, std::vector<Event>{a(1, 1)});
    subscribe_durably(client, "billing");
    subscribe_durably(client, "all", "*");
    std::vector<Event> events;
    for (int i = 2; i < 52; ++i) events.push_back(a(i, i));
    publish(client, events);
    before = take(client, 150);
    ASSERT_TRUE(client.acknowledge("billing", {11, 1}));
    ASSERT_TRUE(client.acknowledge("all", {51, 1}));
    copy = crash(journal());
  }
  std::erase_if(before, [](const std::string& text) { return text.find("Echo") == text.npos; });
  RunningServer again(options(copy));
  Client client = again.connect();
  subscribe_durably(client, "all", "*");
  subscribe_durably(client, "billing");
  const auto after = take(client, 40);
  EXPECT_THAT(after[0], HasSubstr("12-1 Echo"));
  EXPECT_THAT(after[39], HasSubstr("51-1 Echo"));
  for (const std::string& text : after) EXPECT_THAT(before, testing::Contains(text));
}

TEST_P(DurableTest, AllTypesAreThoseThatAreNotInternal) {
  RunningServer server(options(journal()));
  Client client = server.connect();
  deploy(client,
         "internal event Twice(v: int);"
         "define Twice(v: int) from A(v > 0) where v = 2 * A.v;"
         "define Four(v: int) from Twice() where v = 2 * Twice.v;");
  subscribe_durably(client, "all", "*");
  publish(client, std::vector<Event>{a(1, 1)});
  const auto got = take(client, 2);
  EXPECT_THAT(got[0], HasSubstr(" A"));
  EXPECT_THAT(got[1], HasSubstr(" Four"));
}

TEST_P(DurableTest, ANewConnectionTakesItOver) {
  RunningServer server(options(journal()));
  Client publisher = server.connect(), old = server.connect(), fresh = server.connect();
  deploy(publisher, kEcho);
  subscribe_durably(old, "billing");
  subscribe_durably(fresh, "billing");
  publish(publisher, std::vector<Event>{a(1, 1)});
  EXPECT_THAT(take(fresh, 1), ElementsAre(HasSubstr("1-1 Echo")));
  const auto ended = old.next(30 * kSecond);
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().to_string(), HasSubstr("taken over"));
  const auto withdrawn = [&] {
    const auto closed = *publisher.connections(true);
    return std::ranges::count(closed, "withdrawn", &ClientConnection::reason);
  };
  while (withdrawn() < 1) std::this_thread::yield();
  EXPECT_EQ(server->counters().slow_consumers, 0u);
}

TEST_P(DurableTest, WrongUseIsNamed) {
  RunningServer server(options(journal()));
  Client client = server.connect();
  subscribe_durably(client, "billing", "A");
  const auto other = client.subscribe("B", {.durable = "billing"});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().to_string(), HasSubstr("has another text: A"));
  const auto twice = client.subscribe("A", {.durable = "billing"});
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().to_string(), HasSubstr("this connection has"));
  const auto unknown = client.acknowledge("nobody", {1, 0});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().to_string(), HasSubstr("no durable subscription 'nobody'"));
  const auto future = client.acknowledge("billing", {100, 0});
  ASSERT_FALSE(future);
  EXPECT_THAT(future.error().to_string(), HasSubstr("nothing as late as 100-0"));

  RunningServer without;
  Client forgetful = without.connect();
  const auto refused = forgetful.subscribe("A", {.durable = "billing"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("--journal"));
}

// More waits than an outbox may hold, so it leaves bit by bit.
TEST_P(DurableTest, ALargeBacklogIsReadInOrder) {
  ServerOptions with = options(journal());
  with.limits.outbound_bytes = with.limits.max_frame = std::size_t{1} << 20;
  RunningServer server(with);
  Client publisher = server.connect();
  {
    Client client = server.connect();
    subscribe_durably(client, "late", "A");
  }
  constexpr int kEvents = 60'000;
  std::vector<Event> events;
  for (int i = 1; i <= kEvents; ++i) events.push_back(a(i, i));
  publish(publisher, events, 5000);
  Client client = server.connect();
  subscribe_durably(client, "late", "A");
  for (int i = 1; i <= kEvents; ++i) {
    ASSERT_EQ(place_of(client).root, static_cast<std::uint64_t>(i));
    if (i % 10'000 == 0) {
      ASSERT_TRUE(client.acknowledge("late", {static_cast<std::uint64_t>(i), 0}));
    }
  }
}

TEST_P(DurableTest, TheOldestEventsGoWhenTooMuchWaitsAndThatIsTold) {
  ServerOptions with = options(journal());
  with.journal.backlog_bytes = std::size_t{1} << 20;
  RunningServer server(with);
  Client publisher = server.connect();
  {
    Client client = server.connect();
    subscribe_durably(client, "late", "A");
  }
  constexpr std::uint64_t kEvents = 100'000;
  std::vector<Event> events;
  for (std::uint64_t i = 1; i <= kEvents; ++i) events.push_back(a(std::int64_t(i), 1));
  publish(publisher, events, 5000);
  Client client = server.connect();
  subscribe_durably(client, "late", "A");
  const Delivery first = next(client);
  EXPECT_EQ(first.lost_before.events, first.place.root - 1);
  EXPECT_EQ(first.lost_before.first.root, 1u);
  EXPECT_EQ(first.lost_before.last.root, first.place.root - 1);
  const auto statistics = publisher.statistics();
  ASSERT_TRUE(statistics);
  const auto dropped = std::ranges::find(*statistics, "durable_events_dropped", &Statistic::name);
  ASSERT_NE(dropped, statistics->end());
  EXPECT_EQ(dropped->value, first.place.root - 1);
  std::uint64_t last = first.place.root;
  while (last < kEvents) ASSERT_EQ(place_of(client).root, ++last);
}

TEST_P(DurableTest, OnlyAsManyEventsGoAsMustHoweverTheyCame) {
  ServerOptions with = options(journal());
  with.journal.backlog_bytes = std::size_t{1} << 17;
  fs::path copy;
  {
    RunningServer server(with);
    Client client = server.connect();
    subscribe_durably(client, "late", "A");
    const std::string text(500, 'x');
    std::vector<Event> events(400, {"A", kSecond, {{"text", text}}});
    publish(client, events, events.size());
    publish(client, std::span(events).first(1));
    copy = crash(journal());
  }
  with.journal.path = copy.string();
  RunningServer again(with);
  Client client = again.connect();
  subscribe_durably(client, "late", "A");
  const Delivery first = next(client);
  EXPECT_EQ(first.lost_before.events, first.place.root - 1);
  EXPECT_EQ(first.lost_before.last.root, first.place.root - 1);
  EXPECT_LE(first.place.root, 401u - 200) << "half of what the bound allows was left";
  EXPECT_GT(first.place.root, 401u - 262) << "so many events have more bytes than may wait";
  for (std::uint64_t root = first.place.root + 1; root <= 401; ++root) {
    ASSERT_EQ(place_of(client).root, root);
  }
}

TEST_P(DurableTest, NothingIsDroppedWherePublicationsAreRefusedInstead) {
  ServerOptions with = options(journal());
  with.journal.backlog_bytes = std::size_t{1} << 20;
  with.journal.backlog_policy = BacklogPolicy::refuse;
  RunningServer server(with);
  Client publisher = server.connect();
  Client client = server.connect();
  subscribe_durably(client, "late", "A");
  std::uint64_t accepted = 0;
  Result<Published> published = Published{};
  while (published) {
    std::vector<Event> events;
    for (int i = 0; i < 1000; ++i) events.push_back(a(std::int64_t(accepted) + i, 1));
    published = publisher.publish(events, {.acknowledge = Acknowledge::processed});
    if (published) accepted += published->accepted;
  }
  EXPECT_THAT(published.error().message, testing::HasSubstr("durable subscription 'late'"));
  EXPECT_GT(accepted, 10'000u);
  for (std::uint64_t root = 1; root <= accepted; ++root) {
    const Delivery delivery = next(client);
    ASSERT_EQ(delivery.place.root, root);
    ASSERT_EQ(delivery.lost_before.events, 0u);
  }
  ASSERT_TRUE(client.acknowledge("late", {accepted, 0}));
  EXPECT_TRUE(publisher.publish(std::vector{a(1, 1)}));
}

TEST_P(DurableTest, AnEndedSubscriptionStaysEnded) {
  fs::path copy;
  {
    RunningServer server(options(journal()));
    RawConnection raw(server->address());
    raw.greet();
    wire::SubscribeT subscribe;
    subscribe.subscription = 1;
    subscribe.text = "A";
    subscribe.durable = "gone";
    raw.send(2, subscribe);
    raw.expect<wire::Ack>(2);
    raw.send(publish_frame(3, {a(1, 1)}, 0, 0, wire::AckMode::None));
    raw.expect<wire::Deliver>(0);
    wire::ListDurablesT list;
    raw.send(4, list);
    const auto durables = raw.expect<wire::Durables>(4);
    ASSERT_EQ(durables.list.size(), 1u);
    EXPECT_EQ(durables.list[0]->rows, 1u);
    RawConnection other(server->address());
    other.greet();
    wire::EndDurableT end;
    end.durable = "gone";
    other.send(5, end);
    other.expect<wire::Ack>(5);
    copy = crash(journal());
  }
  RunningServer again(options(copy));
  RawConnection raw(again->address());
  raw.greet();
  raw.send(4, wire::ListDurablesT());
  EXPECT_TRUE(raw.expect<wire::Durables>(4).list.empty());
}

TEST_P(DurableTest, OverHttpAnIdIsAcknowledgedAndTheNextConnectionGoesOnBehindIt) {
  const std::string target = "/v1/events?subscribe=A&durable=web";
  const std::string accept = "Accept: text/event-stream\r\n";
  const auto ids = [](HttpConnection& stream, int count) {
    std::vector<std::string> list;
    while (static_cast<int>(list.size()) < count) {
      const std::string line = stream.line();
      if (line.starts_with("id: ")) list.push_back(line.substr(4));
      if (!stream.socket().is_open()) break;
    }
    return list;
  };
  fs::path copy;
  {
    RunningServer server(with_http(options(journal())));
    const std::string http = http_address(server);
    HttpConnection stream(http), control(http);
    stream.request("GET", target, "", accept);
    EXPECT_EQ(stream.receive().status, 200u);
    const auto published =
        control.ask("POST", "/v1/events?ack=durable&producer=5&sequence=1",
                    event_line("A", 1) + event_line("A", 2) + event_line("A", 3));
    EXPECT_EQ(published.status, 200u) << published.body;
    EXPECT_THAT(ids(stream, 3), ElementsAre("1-0", "2-0", "3-0"));
    const auto done = control.ask("POST", "/v1/subscriptions/web/ack", R"({"id":"2-0"})");
    EXPECT_EQ(done.status, 200u) << done.body;
    EXPECT_EQ(control.ask("POST", "/v1/subscriptions/web/ack", R"({"id":"2"})").status, 400u);
    EXPECT_EQ(control.ask("POST", "/v1/subscriptions/no/ack", R"({"id":"2-0"})").status, 404u);
    const auto list = control.ask("GET", "/v1/subscriptions").json()["subscriptions"];
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0]["name"], "web");
    EXPECT_EQ(list[0]["acknowledged"], "2-0");
    EXPECT_EQ(list[0]["rows"], 1u);
    copy = crash(journal());
  }
  RunningServer again(with_http(options(copy)));
  const std::string http = http_address(again);
  HttpConnection stream(http), control(http);
  stream.request("GET", target, "", accept);
  EXPECT_EQ(stream.receive().status, 200u);
  EXPECT_THAT(ids(stream, 1), ElementsAre("3-0"));
  const auto repeated =
      control.ask("POST", "/v1/events?ack=durable&producer=5&sequence=1", event_line("A", 1));
  EXPECT_EQ(repeated.json()["duplicate"], true);
  EXPECT_EQ(control.ask("DELETE", "/v1/subscriptions/web").status, 200u);
  EXPECT_EQ(control.ask("DELETE", "/v1/subscriptions/web").status, 404u);
}

INSTANTIATE_TEST_SUITE_P(Snapshots, DurableTest, testing::Values(0, 1), name_of_snapshots);

}  // namespace
}  // namespace gorgo::server
