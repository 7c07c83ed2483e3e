#include <gmock/gmock.h>

#include "http_support.hpp"
#include "support.hpp"

// What a server publishes about itself, and that nothing of it appears unasked.
namespace gorgo::server {
namespace {

using testing::Each;
using testing::HasSubstr;

ServerOptions often() {
  ServerOptions options;
  options.operations.statistics = std::chrono::milliseconds(10);
  return options;
}

std::int64_t integer(const Event& event, std::string_view name) {
  for (const Attribute& attribute : event.attributes) {
    if (attribute.name == name) return std::get<std::int64_t>(attribute.value);
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

std::string text(const Event& event, std::string_view name) {
  for (const Attribute& attribute : event.attributes) {
    if (attribute.name == name) return std::get<std::string>(attribute.value);
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

void subscribe_to(Client& client, const std::string& to) {
  const auto subscribed = client.subscribe(to);
  ASSERT_TRUE(subscribed) << subscribed.error().to_string();
  ASSERT_FALSE(subscribed->diagnostics.failed()) << subscribed->diagnostics.render();
}

void deploy_anew(Client& client, const std::string& rules) {
  const auto deployed = client.deploy("test", rules);
  ASSERT_TRUE(deployed) << deployed.error().to_string();
  ASSERT_FALSE(deployed->failed()) << deployed->render();
}

Event next_event(Client& client) {
  const auto delivery = client.next(30 * kSecond);
  EXPECT_TRUE(delivery && *delivery);
  return delivery && *delivery ? (*delivery)->event : Event{};
}

/// Publishes a terminator again and again until something is delivered.
Event publish_until_delivered(Client& client) {
  while (true) {
    const auto published = client.publish(std::vector{smoke({}, "A")});
    if (!published) break;
    const auto delivery = client.next(5 * kMillisecond);
    if (!delivery) break;
    if (*delivery) return (*delivery)->event;
  }
  ADD_FAILURE() << "the connection is broken";
  return {};
}

TEST(SelfReport, TellsWhoSubscribesHowTheServerDoes) {
  RunningServer server(often());
  Client client = server.connect();
  ASSERT_TRUE(client.publish(std::vector{temp({}, "A", 50), temp({}, "A", 51)}));
  subscribe_to(client, "gorgo.Stats(accepted > 0)");
  const Event first = next_event(client), second = next_event(client);
  EXPECT_EQ(first.type, "gorgo.Stats");
  EXPECT_EQ(integer(first, "accepted"), 2) << "nothing was published before the subscription";
  EXPECT_EQ(integer(second, "accepted"), 3) << "they count themselves";
  EXPECT_EQ(integer(first, "connections"), 1);
  EXPECT_EQ(integer(first, "refused"), 0);
}

TEST(SelfReport, CountsLinesThatAreNoEventsAmongTheRefused) {
  RunningServer server(with_http(often()));
  HttpConnection http(http_address(server));
  const auto answer = http.ask("POST", "/v1/events", "{\"type\":\"A\",\"attrs\":{}}\ngarbage\n");
  EXPECT_EQ(answer.json()["accepted"], 1) << answer.body;
  Client client = server.connect();
  subscribe_to(client, "gorgo.Stats");
  EXPECT_EQ(integer(next_event(client), "refused"), 1);
}

TEST(SelfReport, PublishesNothingForSubscriptionsToEverything) {
  RunningServer server(often());
  Client everything = server.connect(), other = server.connect();
  subscribe_to(everything, "*");
  subscribe_to(other, "gorgo.Connection(what = \"closed\")");
  while (true) {  // until the server has reported something
    server.connect();
    const auto told = other.next(20 * kMillisecond);
    ASSERT_TRUE(told);
    if (*told) break;
  }
  std::vector<std::string> types;
  while (true) {
    const auto delivery = everything.next(0);
    ASSERT_TRUE(delivery);
    if (!*delivery) break;
    types.push_back((*delivery)->event.type);
  }
  EXPECT_THAT(types, Each("gorgo.Connection"));
}

TEST(SelfReport, TellsOfConnectionsThatOpenAndEnd) {
  RunningServer server(often());
  Client client = server.connect();
  subscribe_to(client, "gorgo.Connection");
  Event event;
  do {
    server.connect();
    const auto told = client.next(20 * kMillisecond);
    ASSERT_TRUE(told);
    if (*told) event = (*told)->event;
  } while (event.type.empty() || text(event, "what") != "closed");
  EXPECT_EQ(text(event, "door"), "native");
  EXPECT_EQ(text(event, "reason"), "client_left");
  EXPECT_THAT(text(event, "peer"), HasSubstr("127.0.0.1"));
}

TEST(SelfReport, RulesReadWhatRulesDo) {
  RunningServer server(often());
  Client client = server.connect();
  deploy_anew(client, kFireRule + std::string(R"(
rule busy: define Busy(rule: string, n: int)
from gorgo.RuleStats(rule = "fire_last", terminators > 0)
where rule = gorgo.RuleStats.rule, n = gorgo.RuleStats.terminators;)"));
  subscribe_to(client, "Busy");
  const Event busy = publish_until_delivered(client);
  EXPECT_EQ(text(busy, "rule"), "fire_last");
  EXPECT_GT(integer(busy, "n"), 0);
}

TEST(SelfReport, TellsOfRulesThatTakeMuch) {
  ServerOptions options = often();
  options.processor.max_rule_time = 1;  // a nanosecond: any evaluation suspends the rule
  RunningServer server(options);
  Client client = server.connect();
  deploy_anew(client, kFireRule);
  subscribe_to(client, "gorgo.SlowRule(suspended = true)");
  EXPECT_EQ(text(publish_until_delivered(client), "rule"), "fire_last");
}

TEST(SelfReport, NobodyElsePublishesOrDefinesItsTypes) {
  RunningServer server;
  Client client = server.connect();
  const auto published =
      client.publish(std::vector<Event>{{"gorgo.Stats", {}, {{"accepted", std::int64_t{1}}}}});
  ASSERT_TRUE(published);
  EXPECT_EQ(published->accepted, 0u);
  ASSERT_EQ(published->refused, 1u);
  EXPECT_THAT(published->refusals.front().reason, HasSubstr("only the server itself"));
  EXPECT_FALSE(client.trace({"gorgo.Stats", {}, {}}));
  const auto refuses = [&](const std::string& rules) {
    const auto deployed = client.deploy("other", rules);
    return deployed && deployed->failed();
  };
  EXPECT_TRUE(refuses("event gorgo.Stats(accepted: int);"));
  EXPECT_TRUE(refuses("define gorgo.Mine() from A();"));
  EXPECT_FALSE(client.declare("gorgo.Stats", {}));
}

TEST(SelfReport, MisspeltSubscriptionsAreRefused) {
  RunningServer server;
  Client client = server.connect();
  const auto message = [&](const std::string& subscription) {
    const auto subscribed = client.subscribe(subscription);
    return subscribed ? subscribed->diagnostics.render() : subscribed.error().to_string();
  };
  EXPECT_THAT(message("gorgo.Stat"), HasSubstr("gorgo.Stats"));
  EXPECT_THAT(message("gorgo.Stats(acepted > 1)"), HasSubstr("accepted"));
}

}  // namespace
}  // namespace gorgo::server
