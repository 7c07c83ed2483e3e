// Rules that run beside those in force: what they give is compared, and reaches nobody.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "http_support.hpp"
#include "recovery_support.hpp"

namespace gorgo::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kHot = "rule hot: define Hot(v: int) from A(v > 50) where v = A.v;";
constexpr const char* kHotter = "rule hot: define Hot(v: int) from A(v > 70) where v = A.v;";
constexpr const char* kAlarm = "rule alarm: define Alarm(v: int) from Hot() where v = Hot.v;";

Event hot(std::int64_t v, Timestamp at) { return {"A", at, {{"v", v}}}; }

void run_beside(Client& client, const std::string& name, const std::string& text) {
  const auto diagnostics = client.deploy_shadow(name, text);
  ASSERT_TRUE(diagnostics) << diagnostics.error().to_string();
  ASSERT_FALSE(diagnostics->failed()) << diagnostics->render();
}

ShadowInfo shadow_of(Client& client) {
  const auto shadows = client.shadows();
  EXPECT_TRUE(shadows) << shadows.error().to_string();
  if (!shadows || shadows->size() != 1) return {};
  return shadows->front();
}

std::vector<std::string> names_of(Client& client) {
  std::vector<std::string> names;
  for (const RuleInfo& rule : *client.rules()) names.push_back(rule.name);
  return names;
}

class ShadowTest : public testing::Test {
 protected:
  static ServerOptions options() {
    ServerOptions options = with_http();
    options.processor.max_ahead = std::nullopt;
    return options;
  }
};

// Windows, consumption, deadlines, timers and late events: the same rules give the same.
TEST_F(ShadowTest, TheSameRulesGiveTheSameAndChangeNothingElse) {
  const auto events = random_events(600, 1);
  RunningServer without(options()), with(options());
  Client one = without.connect(), other = with.connect();
  deploy(one, kRules);
  deploy(other, kRules);
  run_beside(other, "test.tesla", kRules);
  subscribe_all(one);
  subscribe_all(other);
  publish(one, events);
  publish(other, events);
  const auto expected = delivered(one);
  EXPECT_EQ(delivered(other), expected);
  const ShadowInfo shadow = shadow_of(other);
  std::uint64_t composites = 0;
  for (const RuleInfo& rule : *other.rules()) composites += rule.composites;
  EXPECT_GT(composites, 200u);
  EXPECT_EQ(shadow.counts.both + shadow.before.both, composites);
  EXPECT_THAT(shadow.deployed_samples, IsEmpty());
  EXPECT_THAT(shadow.shadow_samples, IsEmpty());
  EXPECT_EQ(shadow.counts.only_deployed + shadow.before.only_deployed, 0u);
  EXPECT_EQ(shadow.counts.only_shadow + shadow.before.only_shadow, 0u);
  EXPECT_EQ(shadow.events, events.size());
  EXPECT_EQ(shadow.refused, 0u);
  EXPECT_THAT(shadow.replaced, ElementsAre("echo", "load", "pair", "silence"));
  EXPECT_FALSE(shadow.filling);
}

TEST_F(ShadowTest, WhatDiffersIsCountedWithSamples) {
  RunningServer server(options());
  Client client = server.connect();
  deploy(client, kHot);
  ASSERT_FALSE(client.deploy("alarm.tesla", kAlarm)->failed());
  subscribe_all(client);
  publish(client, std::vector{hot(1, kSecond)});
  run_beside(client, "test.tesla", kHotter);
  publish(client, std::vector{hot(60, 2 * kSecond), hot(80, 2 * kSecond)});
  ShadowInfo shadow = shadow_of(client);
  EXPECT_TRUE(shadow.filling);
  EXPECT_EQ(shadow.counts.only_deployed, 1u);
  publish(client, std::vector{hot(65, 60 * kSecond)});
  publish(client, std::vector{hot(66, 61 * kSecond), hot(90, 62 * kSecond)});
  shadow = shadow_of(client);
  EXPECT_FALSE(shadow.filling);
  EXPECT_EQ(shadow.before.both, 1u);
  EXPECT_EQ(shadow.before.only_deployed, 2u);
  EXPECT_EQ(shadow.counts.both, 1u);
  EXPECT_EQ(shadow.counts.only_deployed, 1u);
  EXPECT_EQ(shadow.counts.only_shadow, 0u);
  EXPECT_THAT(shadow.deployed_samples, ElementsAre(HasSubstr("\"v\":66")));
  EXPECT_THAT(shadow.shadow_samples, IsEmpty());
  std::size_t hots = 0, alarms = 0;
  for (const std::string& line : delivered(client)) {
    hots += line.find(" Hot@") != line.npos ? 1 : 0;
    alarms += line.find(" Alarm@") != line.npos ? 1 : 0;
  }
  EXPECT_EQ(hots, 5u);
  EXPECT_EQ(alarms, 5u);
}

TEST_F(ShadowTest, ItReadsTheCompositesOfOtherRules) {
  RunningServer server(options());
  Client client = server.connect();
  deploy(client, kHot);
  run_beside(client, "alarm.tesla",
             "rule alarm: define Alarm(v: int) from Hot(v > 60) where v = Hot.v;");
  publish(client, std::vector{hot(55, kSecond), hot(65, 2 * kSecond)});
  const ShadowInfo shadow = shadow_of(client);
  EXPECT_EQ(shadow.counts.only_shadow + shadow.before.only_shadow, 1u);
  EXPECT_THAT(shadow.replaced, IsEmpty());
  EXPECT_THAT(names_of(client), ElementsAre("hot"));
}

// The window of a table never fills: its rows may be of any time.
TEST_F(ShadowTest, ItBeginsWithTheRowsOfTables) {
  const char* const rules =
      "table Limit(id: int key, most: int); event A(v: int); "
      "rule over: define Over(most: int) from A() and A.v > Limit(id = 1).most "
      "where most = Limit(id = 1).most; "
      "rule row: define Row(id: int) from Limit() where id = Limit.id;";
  const auto limit = [](std::int64_t most, Timestamp at) {
    return Event{"Limit", at, {{"id", std::int64_t{1}}, {"most", most}}};
  };
  RunningServer server(options());
  Client client = server.connect();
  deploy(client, rules);
  publish(client, std::vector{limit(10, kSecond), limit(50, 2 * kSecond)});
  run_beside(client, "test.tesla", rules);
  publish(client, std::vector{hot(20, 60 * kSecond), hot(60, 61 * kSecond)});
  publish(client, std::vector{limit(5, 62 * kSecond), hot(20, 63 * kSecond)});
  const ShadowInfo shadow = shadow_of(client);
  EXPECT_FALSE(shadow.filling);
  EXPECT_EQ(shadow.counts.both + shadow.before.both, 3u);
  EXPECT_EQ(shadow.counts.only_deployed + shadow.before.only_deployed, 0u);
  EXPECT_EQ(shadow.counts.only_shadow + shadow.before.only_shadow, 0u);
}

TEST_F(ShadowTest, ItReadsSeveralTypesInAState) {
  const char* const rules =
      "event A(v: int); event B(v: int); "
      "rule either: define Either(v: int) from A() and last A or B() as E within 1 h from A "
      "where v = E.v;";
  RunningServer server(options());
  Client client = server.connect();
  deploy(client, rules);
  run_beside(client, "test.tesla", rules);
  publish(client, std::vector{Event{"B", kSecond, {{"v", std::int64_t{7}}}}, hot(1, 2 * kSecond)});
  const ShadowInfo shadow = shadow_of(client);
  EXPECT_EQ(shadow.events, 2u);
  EXPECT_EQ(shadow.counts.both + shadow.before.both, 1u);
}

TEST_F(ShadowTest, IsPromotedWithoutTheRulesThatItLacks) {
  RunningServer server(options());
  Client client = server.connect();
  deploy(client, std::string(kHot) + kAlarm);
  run_beside(client, "test.tesla", kHotter);
  const auto promoted = client.promote_shadow("test.tesla");
  ASSERT_TRUE(promoted) << promoted.error().to_string();
  EXPECT_FALSE(promoted->failed());
  EXPECT_THAT(names_of(client), ElementsAre("hot"));
  EXPECT_THAT(client.rule("hot")->text, HasSubstr("v > 70"));
  EXPECT_THAT(*client.shadows(), IsEmpty());
  EXPECT_EQ(client.promote_shadow("test.tesla").error().code, "NotFound");
  EXPECT_EQ(client.rule_history()->back().name, "alarm");
}

TEST_F(ShadowTest, IsRefusedWhereItsRulesWouldBe) {
  RunningServer server(options());
  Client client = server.connect();
  deploy(client, kHot);
  ASSERT_FALSE(client.deploy("alarm.tesla", kAlarm)->failed());
  const auto wrong = client.deploy_shadow(
      "test.tesla", "rule hot: define Hot(w: int) from A(v > 70) where w = A.v;");
  ASSERT_TRUE(wrong) << wrong.error().to_string();
  EXPECT_TRUE(wrong->failed());
  EXPECT_THAT(*client.shadows(), IsEmpty());
}

TEST_F(ShadowTest, IsDroppedByNameAndByARestart) {
  RunningServer server(options());
  Client client = server.connect();
  run_beside(client, "test.tesla", kHot);
  ASSERT_TRUE(client.drop_shadow("test.tesla"));
  EXPECT_EQ(client.drop_shadow("test.tesla").error().code, "NotFound");
  for (int i = 0; i < 8; ++i) run_beside(client, "shadow" + std::to_string(i), kHot);
  const auto ninth = client.deploy_shadow("one too many", kHot);
  ASSERT_FALSE(ninth);
  EXPECT_THAT(ninth.error().message, HasSubstr("8 shadow deployments"));
}

TEST_F(ShadowTest, IsServedOverHttp) {
  RunningServer server(options());
  HttpConnection http(http_address(server));
  EXPECT_EQ(http.ask("POST", "/v1/rules/mine", kHot).status, 200u);
  EXPECT_EQ(http.ask("PUT", "/v1/rules/mine?shadow=true", kHotter).status, 200u);
  EXPECT_EQ(
      http.ask("POST", "/v1/events?ack=processed", R"({"type":"A","ts":1000,"attrs":{"v":60}})")
          .status,
      200u);
  const auto shown = http.ask("GET", "/v1/shadows/mine").json();
  EXPECT_EQ(
      shown["counts"]["only_deployed"].get<int>() + shown["before"]["only_deployed"].get<int>(), 1);
  EXPECT_EQ(http.ask("GET", "/v1/shadows").json()["shadows"].size(), 1u);
  EXPECT_EQ(http.ask("POST", "/v1/shadows/mine/promote").status, 200u);
  EXPECT_THAT(http.ask("GET", "/v1/rules/hot").body, HasSubstr("v > 70"));
  EXPECT_EQ(http.ask("GET", "/v1/shadows/mine").status, 404u);
  EXPECT_EQ(http.ask("DELETE", "/v1/shadows/mine").status, 404u);
}

TEST_F(ShadowTest, ItsSamplesHaveNoValuesThatHttpDoesNotShow) {
  ServerOptions redacted = options();
  redacted.http.redact = {"*.v"};
  RunningServer server(redacted);
  HttpConnection http(http_address(server));
  EXPECT_EQ(http.ask("POST", "/v1/rules/mine", kHot).status, 200u);
  EXPECT_EQ(http.ask("PUT", "/v1/rules/mine?shadow=true", kHotter).status, 200u);
  const std::string event = R"({"type":"A","ts":1000,"attrs":{"v":6789}})";
  const std::string less = R"({"type":"A","ts":1001,"attrs":{"v":60}})";
  EXPECT_EQ(http.ask("POST", "/v1/events?ack=processed", event + "\n" + less).status, 200u);
  for (const char* path : {"/v1/shadows", "/v1/shadows/mine"}) {
    const std::string shown = http.ask("GET", path).body;
    EXPECT_THAT(shown, HasSubstr("[redacted]"));
    EXPECT_THAT(shown, testing::Not(HasSubstr(":60}")));
  }
}

}  // namespace
}  // namespace gorgo::server
