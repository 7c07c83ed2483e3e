#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "gzip_support.hpp"
#include "http_support.hpp"
#include "server/security/accounts.hpp"
#include "server/security/rate_limit.hpp"
#include "server/security/users.hpp"
#include "server/sessions/liveness.hpp"
#include "users_support.hpp"

// How much users may take, on all of their connections together (docs/security.md).
namespace gorgo::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr const char* kSensorToken = "gorgo_of_the_sensor";

/// A server with HTTP, the administrator and a user `sensor` of these limits.
class WithLimits {
 public:
  explicit WithLimits(const std::string& limits)
      : users_(user_of(limits)), server_(users_.server(with_http())) {
    server_->set_reread([options = users_.server(with_http())] { return options; });
  }

  RunningServer& server() { return server_; }
  Result<Client> connect() { return Client::connect(server_->address(), by_token(kSensorToken)); }
  std::string metrics() {
    HttpConnection http(http_address(server_));
    return http.ask("GET", "/metrics", "", bearer(users_.token())).body;
  }
  bool metrics_have(const std::string& line) {
    return metrics().find(line + "\n") != std::string::npos;
  }
  void reload(const std::string& limits) {
    users_.write(user_of(limits));
    server_->reload();
  }

 private:
  UsersFile users_;
  RunningServer server_;

  static std::string user_of(const std::string& limits) {
    return user_with_token("sensor", kSensorToken,
                           "publish = [\"*\"]\nsubscribe = [\"*\"]\n" + limits + "\n");
  }
};

TEST(UserLimits, AConnectionTooManyIsRefusedAndOneMoreTakenWhenAnotherEnds) {
  WithLimits with("limits = { connections = 1 }");
  auto first = with.connect();
  ASSERT_TRUE(first) << first.error().to_string();
  const auto second = with.connect();
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().to_string(), HasSubstr("the user 'sensor' has 1 connections"));
  EXPECT_THAT(second.error().to_string(), HasSubstr("limits.connections"));
  HttpConnection http(http_address(with.server()));
  const auto refused = http.ask("POST", "/v1/events", event_line("A", 1), bearer(kSensorToken));
  EXPECT_EQ(refused.status, 429u);
  EXPECT_TRUE(with.metrics_have(R"(gorgo_user_connections_refused_total{user="sensor"} 2)"));
  first = Error{"gone", ""};
  wait_until([&] { return with.metrics_have(R"(gorgo_user_connections{user="sensor"} 0)"); });
  EXPECT_TRUE(with.connect());
}

TEST(UserLimits, AConnectionOfHttpCountsOnceHoweverManyRequestsItSends) {
  WithLimits with("limits = { connections = 1 }");
  HttpConnection http(http_address(with.server()));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(http.ask("POST", "/v1/events", event_line("A", i), bearer(kSensorToken)).status,
              200u);
  }
}

TEST(UserLimits, SubscriptionsOfAllConnectionsCountTogether) {
  WithLimits with("limits = { subscriptions = 2 }");
  auto one = with.connect(), other = with.connect();
  const auto kept = subscribe(*one, "A");
  subscribe(*other, "A");
  const auto third = one->subscribe("B");
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().to_string(), HasSubstr("the user 'sensor' has 2 subscriptions"));
  EXPECT_THAT(third.error().to_string(), HasSubstr("limits.subscriptions"));
  EXPECT_TRUE(with.metrics_have(R"(gorgo_user_subscriptions_refused_total{user="sensor"} 1)"));
  HttpConnection http(http_address(with.server()));
  const auto fourth = http.ask("GET", "/v1/events?subscribe=A", "", bearer(kSensorToken));
  EXPECT_EQ(fourth.status, 503u) << "clients must try again: connections that are gone may count";
  EXPECT_THAT(fourth.body, HasSubstr("limits.subscriptions"));
  ASSERT_TRUE(one->unsubscribe(kept));
  subscribe(*one, "B");
  other = Error{"gone", ""};
  wait_until([&] { return one->subscribe("C").has_value(); });
}

TEST(UserLimits, DurableSubscriptionsThatNobodyHasCount) {
  const auto folder = std::filesystem::path(testing::TempDir()) /
                      ("gorgo_durable_limit_" + std::to_string(getpid()));
  {
    const UsersFile users(user_with_token("sensor", kSensorToken,
                                          "subscribe = [\"*\"]\nlimits = { subscriptions = 2 }\n"));
    ServerOptions options = users.server();
    options.journal.path = folder.string();
    RunningServer server(options);
    const auto begin = [&](const std::string& name) {
      auto client = Client::connect(server->address(), by_token(kSensorToken));
      const auto begun = client->subscribe("A", {.durable = name});
      return begun ? std::string() : begun.error().to_string();
    };
    EXPECT_EQ(begin("one"), "");
    wait_until([&] { return begin("two").empty(); });
    // The connections that have ended count until the server knows of that.
    wait_until([&] { return begin("three").find("2 durable subscriptions") != std::string::npos; });
    wait_until([&] { return begin("two").empty(); });
  }
  std::filesystem::remove_all(folder);
}

/// Publishes so much that the next publication must wait, and then another time.
void expect_slowed(WithLimits& with, const std::string& counter) {
  RawConnection raw(with.server()->address());
  wire::HelloT hello;
  hello.min_version = hello.max_version = protocol::kVersion;
  hello.token = kSensorToken;
  raw.send(1, hello);
  raw.expect<wire::Welcome>(1);
  raw.send(publish_frame(2, std::vector<Event>(1000, temp(1000, "A1", 20))));
  raw.send(publish_frame(3, {temp(2000, "A1", 20)}));
  EXPECT_EQ(raw.expect<wire::Ack>(2).accepted, 1000u);
  wait_until([&] { return with.metrics_have(counter); });
  EXPECT_TRUE(with.metrics_have("gorgo_events_accepted_total 1000"));
  EXPECT_TRUE(with.metrics_have("gorgo_events_refused_total 0"));
  with.reload("");
  EXPECT_EQ(raw.expect<wire::Ack>(3).accepted, 1u) << "the connection stays, without the limit";
}

TEST(UserLimits, APublisherAboveItsEventsPerSecondWaitsAndNothingIsRefused) {
  WithLimits with("limits = { events_per_second = 1 }");
  expect_slowed(with, R"(gorgo_user_waits_total{user="sensor",limit="events_per_second"} 1)");
}

TEST(UserLimits, APublisherAboveItsBytesPerSecondWaitsAndNothingIsRefused) {
  WithLimits with("limits = { bytes_per_second = 10 }");
  expect_slowed(with, R"(gorgo_user_waits_total{user="sensor",limit="bytes_per_second"} 1)");
}

TEST(UserLimits, ABodyCountsByWhatItIsInflatedAndTheNextOneWaits) {
  WithLimits with("limits = { bytes_per_second = 1000 }");
  HttpConnection http(http_address(with.server()));
  const auto nothing = http.ask("POST", "/v1/events", gzip(std::string(std::size_t{1} << 20, '\n')),
                                bearer(kSensorToken) + kGzip);
  EXPECT_EQ(nothing.status, 200u);
  HttpConnection next(http_address(with.server()));
  next.request("POST", "/v1/events", event_line("A", 1), bearer(kSensorToken));
  wait_until([&] {
    return with.metrics_have(R"(gorgo_user_waits_total{user="sensor",limit="bytes_per_second"} 1)");
  });
  with.reload("");
  EXPECT_EQ(next.receive().json()["accepted"], 1);
}

TEST(UserLimits, AServerStopsAlthoughAPublisherWaits) {
  WithLimits with("limits = { events_per_second = 1 }");
  HttpConnection http(http_address(with.server()));
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += event_line("A", i);
  EXPECT_EQ(http.ask("POST", "/v1/events", lines, bearer(kSensorToken)).status, 200u);
  http.request("POST", "/v1/events", event_line("A", 1), bearer(kSensorToken));
  wait_until([&] {
    return with.metrics_have(
        R"(gorgo_user_waits_total{user="sensor",limit="events_per_second"} 1)");
  });
  with.server().stop();
}

// Without clients.

TEST(RateLimit, LetsASecondsWorthPassAtOnceAndThenTheRate) {
  RateLimit limit;
  const RateLimit::Time start{seconds(100)};
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(limit.wait(start).count(), 0) << i;
    limit.take(1, 10, start);
  }
  limit.take(1, 10, start);
  EXPECT_EQ(limit.wait(start), milliseconds(100));
  EXPECT_LE(limit.wait(start + milliseconds(100)).count(), 0);
}

TEST(RateLimit, WhatIsLargerPassesAsAWholeAndIsPaidForLater) {
  RateLimit limit;
  const RateLimit::Time start{seconds(100)};
  limit.take(50, 10, start);
  EXPECT_EQ(limit.wait(start), seconds(4));
  EXPECT_EQ(limit.wait(start + seconds(3)), seconds(1));
}

TEST(RateLimit, SavesNoMoreThanASecondsWorth) {
  RateLimit limit;
  const RateLimit::Time start{seconds(100)};
  limit.take(1, 10, start);
  const auto later = start + seconds(1000);
  limit.take(20, 10, later);
  EXPECT_EQ(limit.wait(later), seconds(1));
}

TEST(RateLimit, NobodyWaitsForMoreThanADay) {
  RateLimit limit;
  const RateLimit::Time start{seconds(100)};
  for (int i = 0; i < 3; ++i) limit.take(1e18, 1, start);
  EXPECT_LE(limit.wait(start), std::chrono::hours(24));
}

TEST(UserLimits, TheFileNamesThePlaceOfWhatIsWrong) {
  const auto problem_of = [](const std::string& limits) {
    const auto users = Users::parse("[[user]]\nname = \"a\"\n" + limits + "\n", "users.toml");
    return users ? "" : users.error().to_string();
  };
  EXPECT_EQ(problem_of("limits = { connections = 1, bytes_per_second = 1000000 }"), "");
  EXPECT_THAT(problem_of("limits = { conections = 1 }"),
              HasSubstr("users.toml:3:1: limits: 'conections' is none of connections"));
  EXPECT_THAT(problem_of("limits = { connections = 0 }"), HasSubstr("expected a number from 1"));
  EXPECT_THAT(problem_of("limits = { connections = \"1\" }"), HasSubstr("expected a number"));
  EXPECT_THAT(problem_of("limits = 5"), HasSubstr("expected a table"));
}

TEST(Liveness, AClientIsAskedOnceAndDeadWithoutAnAnswer) {
  const Liveness::Time start{seconds(100)};
  Liveness liveness(start);
  const Limits limits;
  const Liveness::Situation situation{.heartbeat = Dialect::Heartbeat::answered};
  const auto beat = [&](auto after) { return liveness.beat(limits, situation, start + after); };
  EXPECT_EQ(beat(seconds(14)), Liveness::Beat::none);
  EXPECT_EQ(beat(seconds(15)), Liveness::Beat::ping);
  EXPECT_EQ(beat(seconds(30)), Liveness::Beat::none);
  EXPECT_EQ(beat(milliseconds(30'001)), Liveness::Beat::dead);
  liveness.received(start + seconds(31));
  EXPECT_EQ(beat(seconds(45)), Liveness::Beat::ping) << "nothing has gone to it for long";
}

TEST(Liveness, NobodyIsDeadWhileTheServerDoesNotListen) {
  const Liveness::Time start{seconds(100)};
  Liveness liveness(start);
  const Limits limits;
  Liveness::Situation situation{.heartbeat = Dialect::Heartbeat::answered};
  EXPECT_EQ(liveness.beat(limits, situation, start + seconds(15)), Liveness::Beat::ping);
  situation.is_deaf = true;
  EXPECT_EQ(liveness.beat(limits, situation, start + seconds(90)), Liveness::Beat::none);
  situation.is_deaf = false;
  EXPECT_EQ(liveness.beat(limits, situation, start + seconds(100)), Liveness::Beat::none);
  EXPECT_EQ(liveness.beat(limits, situation, start + seconds(106)), Liveness::Beat::dead);
}

TEST(Liveness, AMessageMustBeComplete) {
  const Liveness::Time start{seconds(100)};
  Liveness liveness(start);
  const ServerOptions options;
  liveness.message_begun(start);
  liveness.message_begun(start + seconds(29));
  EXPECT_FALSE(liveness.late(options, {}, start + seconds(30)));
  const auto late = liveness.late(options, {}, start + seconds(31));
  ASSERT_TRUE(late);
  EXPECT_THAT(late->message, HasSubstr("not complete within 30000 ms"));
  liveness.message_over();
  EXPECT_FALSE(liveness.late(options, {}, start + seconds(31)));
}

}  // namespace
}  // namespace gorgo::server
