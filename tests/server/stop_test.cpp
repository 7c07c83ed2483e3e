#include <gmock/gmock.h>

#include "gorgo/subscription.hpp"
#include "http_support.hpp"

// The end of a server: the grace, in which everybody is served and told, and what follows.
namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::milliseconds kAnHour{3'600'000};

ServerOptions with_grace(std::chrono::milliseconds grace) {
  auto options = with_http();
  options.operations.grace = grace;
  return options;
}

class Grace : public testing::Test {
 protected:
  ~Grace() override {
    server_->stop();  // ends a grace that has begun, and begins one that has not
    server_->stop();
  }

  RunningServer server_{with_grace(kAnHour)};

  HttpResponse ask(const std::string& target) {
    return HttpConnection(http_address(server_)).ask("GET", target);
  }
  /// Has the grace begin.
  void leave() {
    server_->stop();
    wait_until([&] { return ask("/readyz").status == 503; });
  }
};

TEST_F(Grace, ServesOnWhileItSaysThatItIsNotReady) {
  auto client = server_.connect();
  subscribe(client, "A");
  EXPECT_EQ(ask("/readyz").status, 200u);
  EXPECT_FALSE(client.is_leaving());
  leave();
  EXPECT_EQ(ask("/readyz").body, "stopping\n");
  EXPECT_EQ(ask("/healthz").status, 200u);
  auto newcomer = server_.connect();
  const auto published = newcomer.publish(std::vector{Event{"A", std::nullopt, {}}});
  ASSERT_TRUE(published) << published.error().to_string();
  EXPECT_TRUE(newcomer.is_leaving());
  EXPECT_EQ(next(client).event.type, "A");
  EXPECT_TRUE(client.is_leaving());
}

TEST_F(Grace, StandsInTheStreamsOfSubscriptions) {
  auto subscription = Subscription::open(server_->address(), {"A"});
  ASSERT_TRUE(subscription) << subscription.error().to_string();
  leave();
  const auto item = subscription->next(60 * kSecond);
  ASSERT_TRUE(item && *item);
  ASSERT_TRUE(std::holds_alternative<Leaving>(**item));
  const Duration grace = std::get<Leaving>(**item).grace;  // what is left of the hour
  EXPECT_TRUE(grace > 0 && grace <= 3600 * kSecond) << grace;
  EXPECT_TRUE(subscription->is_leaving());
}

TEST_F(Grace, ConnectionsOfHttpAreNotKept) {
  HttpConnection http(http_address(server_));
  EXPECT_EQ(http.ask("GET", "/healthz").headers.count("Connection"), 0u);
  leave();
  EXPECT_EQ(http.ask("GET", "/healthz").headers.at("Connection"), "close");
  EXPECT_TRUE(http.is_closed());
}

TEST_F(Grace, StreamsAreToldBeforeTheyEnd) {
  HttpConnection before(http_address(server_)), within(http_address(server_));
  before.request("GET", "/v1/events?subscribe=*");
  EXPECT_EQ(before.receive().status, 200u);
  leave();
  within.request("GET", "/v1/events?subscribe=*");
  EXPECT_EQ(within.receive().status, 200u);
  for (auto* stream : {&before, &within}) {
    EXPECT_EQ(stream->line(), "event: leaving");
    EXPECT_THAT(stream->line(), HasSubstr("data: {\"grace_ms\":3"));
    EXPECT_EQ(stream->line(), "");
  }
  server_->stop();
  for (auto* stream : {&before, &within}) EXPECT_EQ(stream->line(), "event: error");
}

TEST_F(Grace, ASecondSignalEndsItAndNothingThatWasAcceptedIsLost) {
  auto client = server_.connect();
  subscribe(client, "A");
  leave();
  auto publisher = server_.connect();
  const auto published = publisher.publish(std::vector<Event>(1000, {"A", std::nullopt, {}}));
  ASSERT_TRUE(published) << published.error().to_string();
  server_->stop();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(next(client).event.type, "A");
  const auto end = client.next(30 * kSecond);
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message, HasSubstr("stopping"));
}

TEST(Stop, TheGraceEndsByItself) {
  RunningServer server(with_grace(std::chrono::milliseconds(1)));
  auto client = server.connect();
  server->stop();
  const auto end = client.next(30 * kSecond);
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message, HasSubstr("stopping"));
}

}  // namespace
}  // namespace gorgo::server
