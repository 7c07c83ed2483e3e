#include <gmock/gmock.h>

#include <algorithm>

#include "support.hpp"

/// Questions to a server about its rules.
namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

ServerOptions remembering(Duration duration) {
  ServerOptions options;
  options.processor.remember = duration;
  return options;
}

Why ask(Client& client, const WhyOptions& options) {
  auto why = client.why("fire_last", options);
  EXPECT_TRUE(why) << why.error().to_string();
  return why ? *std::move(why) : Why{};
}

TEST(WhyRequest, TellsOfTheLastTerminators) {
  RunningServer server;
  Client client = server.connect();
  deploy(client, kFireRule);
  ASSERT_TRUE(client.publish(std::vector{temp(kSecond, "A1", 50), smoke(2 * kSecond, "A1"),
                                         temp(3 * kSecond, "A2", 42.5), smoke(4 * kSecond, "A2")}));
  const Why both = ask(client, {});
  EXPECT_EQ(both.evaluated, 2u);
  EXPECT_EQ(both.produced, 1u);
  ASSERT_EQ(both.funnels.size(), 2u);
  EXPECT_EQ(both.funnels[0].composites, 1u);
  EXPECT_EQ(both.funnels[0].complete, 1u);
  EXPECT_FALSE(both.funnels[0].nearest);
  const Funnel& silent = both.funnels[1];
  EXPECT_EQ(silent.event, "Smoke@4000 {area=\"A2\"}");
  EXPECT_EQ(silent.composites, 0u);
  ASSERT_TRUE(silent.nearest);
  EXPECT_EQ(silent.nearest->event, "Temp@3000 {area=\"A2\", value=42.5}");
  EXPECT_EQ(silent.nearest->test, "value > 45");
  EXPECT_EQ(silent.nearest->found, "42.5");
  ASSERT_EQ(silent.steps.size(), 3u);
  EXPECT_EQ(silent.steps[1].candidates, 2u);
  EXPECT_EQ(silent.steps[1].kind, Step::Kind::state);
  const auto& losses = silent.steps[1].losses;
  const auto links = std::ranges::find(losses, "area = Smoke.area", &Loss::test);
  ASSERT_NE(links, losses.end());
  EXPECT_EQ(links->count, 1u);

  const Why last = ask(client, {.last = 1, .at = {}});
  ASSERT_EQ(last.funnels.size(), 1u);
  EXPECT_EQ(last.funnels[0].timestamp, 4 * kSecond);
  const Why at = ask(client, {.last = 10, .at = 2 * kSecond});
  ASSERT_EQ(at.funnels.size(), 1u);
  EXPECT_EQ(at.funnels[0].timestamp, 2 * kSecond);
}

TEST(WhyRequest, AnswersNeitherChangeNorDelayWhatFollows) {
  RunningServer server;
  Client client = server.connect();
  std::string consuming = kFireRule;
  consuming.insert(consuming.rfind(';'), " consuming Temp");
  deploy(client, consuming);
  subscribe(client, "Fire");
  ASSERT_TRUE(client.publish(std::vector{temp(kSecond, "A1", 50)}));
  EXPECT_TRUE(ask(client, {}).funnels.empty());
  ASSERT_TRUE(client.publish(std::vector{smoke(2 * kSecond, "A1")}));
  EXPECT_EQ(ask(client, {}).funnels.at(0).composites, 1u);
  EXPECT_EQ(ask(client, {}).funnels.at(0).composites, 1u);
  ASSERT_TRUE(client.publish(std::vector{temp(3 * kSecond, "A1", 60), smoke(4 * kSecond, "A1")}));
  EXPECT_EQ(*next(client).event.timestamp, 2 * kSecond);
  EXPECT_EQ(*next(client).event.timestamp, 4 * kSecond);
}

TEST(WhyRequest, WhatIsForgottenIsSaid) {
  // Keeps Smoke longer than fire_last needs it, and Temp not.
  const std::string other =
      "rule other: define O() from X([int]a = 1) and last Smoke() within 1 h from X;";
  for (const bool remember : {false, true}) {
    RunningServer server(remembering(remember ? 1000 * kSecond : 0));
    Client client = server.connect();
    deploy(client, kFireRule);
    deploy(client, other);
    ASSERT_TRUE(client.publish(std::vector{temp(kSecond, "A1", 50), smoke(100 * kSecond, "A1")}));
    ASSERT_TRUE(client.tick(400 * kSecond));
    const Why why = ask(client, {});
    EXPECT_EQ(why.produced, 1u);
    ASSERT_EQ(why.funnels.size(), 1u);
    EXPECT_EQ(why.funnels[0].forgotten, !remember);
    EXPECT_EQ(why.funnels[0].composites, remember ? 1u : 0u);
  }
}

TEST(WhyRequest, TerminatorsAreRememberedAsLongAsTheServerIsTold) {
  for (const bool remember : {false, true}) {
    RunningServer server(remembering(remember ? 1000 * kSecond : 0));
    Client client = server.connect();
    deploy(client, kFireRule);
    ASSERT_TRUE(client.publish(std::vector{temp(kSecond, "A1", 50), smoke(100 * kSecond, "A1")}));
    ASSERT_TRUE(client.tick(111 * kSecond));
    EXPECT_EQ(ask(client, {}).funnels.size(), remember ? 1u : 0u);
  }
}

TEST(WhyRequest, AnUnknownRuleIsNamed) {
  RunningServer server;
  Client client = server.connect();
  deploy(client, kFireRule);
  const auto why = client.why("fire_lst");
  ASSERT_FALSE(why);
  EXPECT_THAT(why.error().message, HasSubstr("fire_lst"));
  EXPECT_THAT(why.error().hint, HasSubstr("fire_last"));
}

TEST(WhyRequest, HoldsUpTheServerForABoundedTime) {
  ServerOptions options;
  options.limits.why = std::chrono::milliseconds(1);
  RunningServer server(options);
  Client client = server.connect();
  deploy(client, kFireRule);
  std::vector<Event> events(200'000, temp(kSecond, "A1", 50));
  for (int i = 0; i < 10; ++i) events.push_back(smoke((2 + i) * kSecond, "A1"));
  ASSERT_TRUE(client.publish(events));
  const Why why = ask(client, {});
  ASSERT_FALSE(why.funnels.empty());
  EXPECT_LT(why.funnels.size(), 10u);
  EXPECT_EQ(why.funnels.front().outcome, Funnel::Outcome::stopped);
  EXPECT_EQ(why.funnels.back().timestamp, 11 * kSecond);
}

}  // namespace
}  // namespace gorgo::server
