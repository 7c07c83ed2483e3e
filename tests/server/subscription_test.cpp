#include <gmock/gmock.h>

#include "support.hpp"

namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

TEST(Subscription, CompositesComeBehindTheirCauseInPlaceOrder) {
  RunningServer server;
  Client client = server.connect();
  deploy(client, kFireRule);
  const auto smokes = subscribe(client, "Smoke");
  const auto fires = subscribe(client, "Fire");
  ASSERT_TRUE(client.publish(
      std::vector{temp(10, "A1", 50), smoke(20, "A1"), smoke(30, "A2"), smoke(40, "A1")}));
  std::vector<std::pair<std::uint32_t, Timestamp>> got;
  std::vector<Place> places;
  for (int i = 0; i < 5; ++i) {
    const Delivery d = next(client);
    got.emplace_back(d.subscription, *d.event.timestamp);
    places.push_back(d.place);
  }
  const std::vector<std::pair<std::uint32_t, Timestamp>> expected = {
      {smokes, 20}, {fires, 20}, {smokes, 30}, {smokes, 40}, {fires, 40}};
  EXPECT_EQ(got, expected);
  EXPECT_TRUE(std::ranges::is_sorted(places));
  EXPECT_EQ(places[0], (Place{2, 0}));
  EXPECT_EQ(places[1], (Place{2, 1}));
}

TEST(Subscription, ConditionsSelect) {
  RunningServer server;
  Client client = server.connect();
  subscribe(client, "Temp(value > 45 and not (area = 'A2'))");
  ASSERT_TRUE(client.publish(
      std::vector{temp(10, "A1", 40), temp(20, "A2", 50), temp(30, "A1", 50), temp(40, "A1", 46)}));
  EXPECT_EQ(*next(client).event.timestamp, 30);
  EXPECT_EQ(*next(client).event.timestamp, 40);
}

TEST(Subscription, AllTypesAreThoseThatAreNotInternal) {
  RunningServer server;
  Client client = server.connect();
  deploy(client,
         "internal event Hot(area: string);"
         "define Hot(area: string) from Temp(value > 45) where area = Temp.area;"
         "define Alarm() from Hot();");
  const auto all = subscribe(client, "*");
  const auto hot = subscribe(client, "Hot");
  ASSERT_TRUE(client.publish(std::vector{temp(10, "A1", 50)}));
  std::vector<std::pair<std::uint32_t, std::string>> got;
  for (int i = 0; i < 3; ++i) {
    const Delivery d = next(client);
    got.emplace_back(d.subscription, d.event.type);
  }
  const std::vector<std::pair<std::uint32_t, std::string>> expected = {
      {all, "Temp"}, {hot, "Hot"}, {all, "Alarm"}};
  EXPECT_EQ(got, expected);
}

TEST(Subscription, AttributesArriveAsTheyWere) {
  RunningServer server;
  Client client = server.connect();
  subscribe(client, "*");
  const Event event{"Any",
                    -5,
                    {{"i", std::int64_t{9007199254740993}},
                     {"f", 0.1},
                     {"b", true},
                     {"s", std::string("gr\xc3\xbcn")}}};
  ASSERT_TRUE(client.publish(std::vector{event}));
  const Event got = next(client).event;
  EXPECT_EQ(got.type, "Any");
  EXPECT_EQ(*got.timestamp, -5);
  ASSERT_EQ(got.attributes.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(got.attributes[i].name, event.attributes[i].name);
    EXPECT_EQ(got.attributes[i].value, event.attributes[i].value);
  }
}

TEST(Subscription, OneCopyPerMatchingSubscription) {
  RunningServer server;
  Client client = server.connect();
  const auto any = subscribe(client, "*");
  const auto hot = subscribe(client, "Temp(value > 45)");
  const auto again = subscribe(client, "Temp(value > 45)");
  ASSERT_TRUE(client.publish(std::vector{temp(10, "A1", 50), temp(20, "A1", 5)}));
  EXPECT_EQ(next(client).subscription, any);
  EXPECT_EQ(next(client).subscription, hot);
  EXPECT_EQ(next(client).subscription, again);
  const Delivery last = next(client);
  EXPECT_EQ(last.subscription, any);
  EXPECT_EQ(*last.event.timestamp, 20);
}

TEST(Subscription, SubscribersWithTheSameTextGetTheirOwnIds) {
  RunningServer server;
  Client one = server.connect();
  Client two = server.connect();
  subscribe(two, "Rain");
  const auto first = subscribe(one, "Temp");
  const auto second = subscribe(two, "Temp");
  ASSERT_NE(first, second);
  ASSERT_TRUE(one.publish(std::vector{temp(10, "A1", 50)}));
  EXPECT_EQ(next(one).subscription, first);
  EXPECT_EQ(next(two).subscription, second);
}

TEST(Subscription, BeginsBehindWhatWasPublishedAndEndsWithUnsubscribe) {
  RunningServer server;
  Client client = server.connect();
  ASSERT_TRUE(client.publish(std::vector{temp(10, "A1", 1)}));
  const auto id = subscribe(client, "Temp");
  ASSERT_TRUE(client.publish(std::vector{temp(20, "A1", 2)}));
  ASSERT_TRUE(client.unsubscribe(id));
  ASSERT_TRUE(client.publish(std::vector{temp(30, "A1", 3)}));
  subscribe(client, "Temp");
  ASSERT_TRUE(client.publish(std::vector{temp(40, "A1", 4)}));
  EXPECT_EQ(*next(client).event.timestamp, 20);
  EXPECT_EQ(*next(client).event.timestamp, 40);
  EXPECT_FALSE(client.unsubscribe(id));
}

TEST(Subscription, ErrorsInTheTextComeBackAsDiagnostics) {
  RunningServer server;
  Client client = server.connect();
  deploy(client, kFireRule);
  const auto broken = client.subscribe("Fire(measuredTemp >)");
  ASSERT_TRUE(broken);
  EXPECT_TRUE(broken->diagnostics.failed());
  const auto misspelt = client.subscribe("Fire(measuredTmp > 5)");
  ASSERT_TRUE(misspelt);
  ASSERT_TRUE(misspelt->diagnostics.failed());
  EXPECT_THAT(misspelt->diagnostics.list[0].hint, HasSubstr("measuredTemp"));
  EXPECT_EQ(misspelt->diagnostics.list[0].at.column, 6u);
}

TEST(Subscription, AVanishedSubscriberDisturbsNobody) {
  RunningServer server;
  Client client = server.connect();
  subscribe(client, "Temp");
  {
    Client other = server.connect();
    subscribe(other, "Temp");
  }
  ASSERT_TRUE(client.publish(std::vector{temp(10, "A1", 1), temp(20, "A1", 2)}));
  EXPECT_EQ(*next(client).event.timestamp, 10);
  EXPECT_EQ(*next(client).event.timestamp, 20);
}

}  // namespace
}  // namespace gorgo::server
