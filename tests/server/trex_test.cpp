#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>

#include "support.hpp"
#include "trex_support.hpp"

// What clients of T-Rex find, and what they may do without harm to others.
namespace gorgo::server {
namespace {

using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::SizeIs;
using trex::Attribute;
using trex::Comparison;
using trex::Publication;

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class Trex : public testing::Test {
 protected:
  explicit Trex(ServerOptions options = {}) : server(with_trex(std::move(options))) {}

  TrexConnection connect() { return TrexConnection(trex_address(*server)); }
  /// A connection that gets the events of a type from here on.
  TrexConnection subscriber(std::int32_t type) {
    TrexConnection connection = connect();
    connection.subscribe(all_of(type));
    // Its own event comes back when the subscription before it is in force.
    connection.subscribe(all_of(kMarker));
    connection.publish({kMarker, 0, {}});
    EXPECT_EQ(connection.next()->type, kMarker);
    return connection;
  }

  static constexpr std::int32_t kMarker = 999;
  RunningServer server;
};

TEST_F(Trex, ARuleFiresAndItsCompositeFollowsTheEventThatCausedIt) {
  TrexConnection client = connect();
  for (const std::int32_t type : {1, 2, 3}) client.subscribe(all_of(type));
  client.deploy(last_rule());
  client.publish({2, 0, {{"v", 7}}});
  client.publish({2, 0, {{"v", 4}}});
  client.publish({1, 0, {}});
  EXPECT_EQ(client.next()->type, 2);
  EXPECT_EQ(client.next()->type, 2);
  const auto terminator = client.next();
  EXPECT_EQ(terminator->type, 1);
  const auto composite = client.next();
  EXPECT_EQ(composite->type, 3);
  EXPECT_THAT(composite->attributes, ElementsAre(Attribute{"x", 7}));
  EXPECT_EQ(composite->timestamp, terminator->timestamp);
}

TEST_F(Trex, ARuleStaysUnderAFindableNameWhenItsClientHasGone) {
  TrexConnection client = connect();
  client.deploy(last_rule());
  client.deploy(last_rule());
  client.stop_sending();
  EXPECT_TRUE(client.is_closed());
  Client native = server.connect();
  const auto rules = native.rules();
  ASSERT_TRUE(rules);
  ASSERT_THAT(*rules, SizeIs(2));
  EXPECT_EQ((*rules)[0].name, "trex-T3-1.T3");
  EXPECT_EQ((*rules)[1].name, "trex-T3-2.T3");
}

TEST_F(Trex, ConstantsStandBehindTheOtherAttributesOfAComposite) {
  trex::Rule rule = last_rule();
  rule.composite.constants = {{"a", 1.5f}, {"b", true}, {"c", "caf\xE9"sv}};
  TrexConnection client = connect();
  client.subscribe(all_of(3));
  client.deploy(rule);
  client.publish({2, 0, {{"v", 7}}});
  client.publish({1, 0, {}});
  EXPECT_THAT(client.next()->attributes,
              ElementsAre(Attribute{"x", 7}, Attribute{"a", 1.5f}, Attribute{"b", true},
                          Attribute{"c", "caf\xE9"sv}));
}

TEST_F(Trex, EventsOfOneWriteHaveTimesThatRise) {
  TrexConnection client = connect();
  client.subscribe(all_of(3));
  client.deploy(last_rule());
  trex::Bytes bytes;
  trex::encode(bytes, Publication{2, 0, {{"v", 7}}});
  trex::encode(bytes, Publication{1, 0, {}});
  client.send(bytes);
  EXPECT_EQ(client.next()->type, 3);
}

TEST_F(Trex, ATimestampIsKeptAndNoneIsTheServersTime) {
  TrexConnection client = connect();
  client.subscribe(all_of(1));
  const std::int64_t before = now_ms();
  client.publish({1, 0, {}});
  const std::int64_t stamped = client.next()->timestamp;
  EXPECT_GE(stamped, before);
  EXPECT_LE(stamped, now_ms());
  client.publish({1, stamped - 1, {}});
  EXPECT_EQ(client.next()->timestamp, stamped - 1);
}

TEST_F(Trex, EachMatchingSubscriptionGetsACopyAndAnEqualOneNone) {
  TrexConnection client = connect();
  const trex::Subscription narrow{1, {{"v", Comparison::less, 9}, {"w", Comparison::equal, true}}};
  const trex::Subscription same{1, {{"w", Comparison::equal, true}, {"v", Comparison::less, 9}}};
  client.subscribe(all_of(1));
  client.subscribe(narrow);
  client.subscribe(same);
  client.subscribe(all_of(2));
  client.publish({1, 0, {{"v", 1}, {"w", true}}});
  client.publish({2, 0, {}});
  EXPECT_EQ(client.next()->type, 1);
  EXPECT_EQ(client.next()->type, 1);
  EXPECT_EQ(client.next()->type, 2);
  client.unsubscribe(same);
  client.publish({1, 0, {{"v", 1}, {"w", true}}});
  client.publish({2, 0, {}});
  EXPECT_EQ(client.next()->type, 1);
  EXPECT_EQ(client.next()->type, 2);
}

TEST_F(Trex, WhatWasTakenBackCanBeAskedForAgain) {
  TrexConnection client = connect();
  for (int i = 0; i < 3; ++i) {
    client.subscribe(all_of(1));
    client.publish({1, 0, {{"i", i}}});
    EXPECT_THAT(client.next()->attributes, ElementsAre(Attribute{"i", i}));
    client.unsubscribe(all_of(1));
    client.publish({1, 0, {{"i", -1}}});
  }
  client.unsubscribe(all_of(1));  // there is none
  client.subscribe(all_of(2));
  client.publish({2, 0, {}});
  EXPECT_EQ(client.next()->type, 2);
}

TEST_F(Trex, ConstraintsCompareAsTRexDoes) {
  const std::pair<trex::Constraint, bool> cases[] = {
      {{"i", Comparison::equal, 5}, true},          {{"i", Comparison::less, 5}, false},
      {{"i", Comparison::greater, 4}, true},        {{"i", Comparison::not_equal, 5}, false},
      {{"i", Comparison::less_equal, 5}, true},     {{"i", Comparison::greater_equal, 6}, false},
      {{"i", Comparison::less, 5.5f}, true},        {{"f", Comparison::greater, 1}, true},
      {{"f", Comparison::equal, 1.5f}, true},       {{"b", Comparison::not_equal, false}, true},
      {{"s", Comparison::contains, "ff"sv}, true},  {{"s", Comparison::contains, ""sv}, true},
      {{"s", Comparison::contains, "fo"sv}, false}, {{"s", Comparison::less, "p"sv}, true},
      {{"none", Comparison::equal, 5}, false}};
  for (const auto& [constraint, matches] : cases) {
    TrexConnection client = connect();
    client.subscribe({1, {constraint}});
    client.subscribe(all_of(2));
    client.publish({1, 0, {{"i", 5}, {"f", 1.5f}, {"b", true}, {"s", "office"sv}}});
    client.publish({2, 0, {}});
    if (matches) {
      EXPECT_EQ(client.next()->type, 1)
          << constraint.name << static_cast<int>(constraint.comparison);
    }
    // This one is waited for in any case, or the next client might get it.
    EXPECT_EQ(client.next()->type, 2) << constraint.name << static_cast<int>(constraint.comparison);
  }
}

TEST_F(Trex, ConstraintsMayConcernAttributesThatNoRuleReads) {
  TrexConnection client = connect();
  client.deploy(last_rule());
  client.subscribe({2, {{"area", Comparison::equal, "A1"sv}}});
  client.publish({2, 0, {{"v", 1}, {"area", "A2"sv}}});
  client.publish({2, 0, {{"v", 2}, {"area", "A1"sv}}});
  EXPECT_THAT(client.next()->attributes, ElementsAre(Attribute{"v", 2}, Attribute{"area", "A1"sv}));
}

TEST_F(Trex, NumbersThatDoNotFitAreSentAsFloats) {
  TrexConnection client = subscriber(1);
  Client native = server.connect();
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  ASSERT_TRUE(native.publish(
      std::vector{Event{"T1", std::nullopt, {{"a", most}, {"b", most + 1}, {"c", 0.1}}}}));
  EXPECT_THAT(client.next()->attributes,
              ElementsAre(Attribute{"a", static_cast<std::int32_t>(most)},
                          Attribute{"b", 2147483648.0f}, Attribute{"c", 0.1f}));
}

TEST_F(Trex, APingIsNotAnswered) {
  TrexConnection client = connect();
  client.subscribe(all_of(1));
  client.send(101, {});
  client.publish({1, 0, {}});
  EXPECT_EQ(client.next()->type, 1);
}

TEST_F(Trex, UnknownPacketsAreHarmless) {
  TrexConnection client = connect();
  client.subscribe(all_of(1));
  for (const std::uint8_t kind : {3, 4, 5, 102, 255}) {
    client.send(kind, {});
    client.send(kind, {0, 0, 0, 1, 0, 0, 0, 7});
  }
  client.publish({1, 0, {}});
  EXPECT_EQ(client.next()->type, 1);
  EXPECT_EQ(server->counters().malformed, 10u);
}

TEST_F(Trex, NamesAndStringsMayBeLong) {
  const std::string name(1000, 'n'), text(100'000, 't');
  TrexConnection client = connect();
  client.subscribe({1, {{name, Comparison::contains, std::string_view(text)}}});
  client.publish({1, 0, {{name, std::string_view(text)}}});
  client.subscribe(all_of(2));
  client.publish({2, 0, {{"fifteen_letters", "fifteen letters"sv}}});
  // The first subscription is longer than subscriptions may be, which harms nobody.
  EXPECT_THAT(client.next()->attributes,
              ElementsAre(Attribute{"fifteen_letters", "fifteen letters"sv}));
}

TEST_F(Trex, CountsThatLieAreHarmless) {
  TrexConnection client = connect();
  client.subscribe(all_of(1));
  client.send(0, {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF});
  client.send(0, {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF});
  client.send(1, {0, 0, 0x10, 0});
  client.send(2, {0, 0, 0, 1, 0, 0, 0, 9});
  client.send(100, {2});
  client.publish({1, 0, {}});
  EXPECT_EQ(client.next()->type, 1);
  EXPECT_EQ(server->counters().malformed, 5u);
}

TEST_F(Trex, ALengthThatNoPacketHasEndsOneConnectionBehindItsEvents) {
  TrexConnection other = subscriber(1);
  for (const std::uint8_t first : {0xFF, 0x80, 0x7F}) {
    TrexConnection client = connect();
    trex::Bytes bytes;
    trex::encode(bytes, Publication{1, 0, {}});
    bytes.insert(bytes.end(), {0, first, 0xFF, 0xFF, 0xFF});
    client.send(bytes);
    EXPECT_TRUE(client.is_closed());
    EXPECT_EQ(other.next()->type, 1);
  }
}

TEST_F(Trex, AnAttributeThatStandsTwiceCostsItsEventOnly) {
  TrexConnection client = connect();
  client.subscribe(all_of(1));
  trex::Bytes bytes;
  trex::encode(bytes, Publication{1, 0, {{"a", 1}}});
  trex::encode(bytes, Publication{1, 0, {{"a", 2}, {"a", 3}}});
  trex::encode(bytes, Publication{1, 0, {{"", 4}}});
  trex::encode(bytes, Publication{1, 0, {{"a", 5}}});
  client.send(bytes);
  EXPECT_THAT(client.next()->attributes, ElementsAre(Attribute{"a", 1}));
  EXPECT_THAT(client.next()->attributes, ElementsAre(Attribute{"a", 5}));
  EXPECT_EQ(server->counters().malformed, 2u);
}

TEST_F(Trex, BytesMayComeOneByOne) {
  TrexConnection client = connect();
  trex::Bytes bytes;
  trex::encode_subscription(bytes, all_of(3));
  trex::encode(bytes, last_rule());
  trex::encode(bytes, Publication{2, 0, {{"v", 7}}});
  trex::encode(bytes, Publication{1, 0, {}});
  for (const std::uint8_t byte : bytes) client.send(std::span(&byte, 1));
  EXPECT_EQ(client.next()->type, 3);
}

TEST_F(Trex, AHalfPacketAtTheEndIsHarmless) {
  TrexConnection other = subscriber(1);
  trex::Bytes bytes;
  trex::encode(bytes, Publication{1, 0, {{"v", 1}}});
  trex::encode(bytes, Publication{1, 0, {{"v", 2}}});
  bytes.pop_back();
  TrexConnection client = connect();
  client.send(bytes);
  client.close();
  EXPECT_THAT(other.next()->attributes, ElementsAre(Attribute{"v", 1}));
  other.publish({1, 0, {{"v", 3}}});
  EXPECT_THAT(other.next()->attributes, ElementsAre(Attribute{"v", 3}));
}

TEST_F(Trex, WhatCameBeforeTheEndIsCarriedOut) {
  constexpr int kEvents = 5000;
  TrexConnection other = subscriber(3);
  {
    TrexConnection client = connect();
    trex::Bytes bytes;
    trex::encode(bytes, last_rule());
    trex::encode(bytes, Publication{2, 0, {{"v", 7}}});
    for (int i = 0; i < kEvents; ++i) trex::encode(bytes, Publication{1, 0, {}});
    client.send(bytes);
  }
  for (int i = 0; i < kEvents; ++i) ASSERT_EQ(other.next()->type, 3) << i;
}

TEST_F(Trex, SeveralPublishersLoseNothing) {
  constexpr int kPublishers = 4, kEvents = 5000;
  TrexConnection other = subscriber(1);
  std::vector<std::thread> publishers;
  for (int p = 0; p < kPublishers; ++p) {
    publishers.emplace_back([&, p] {
      TrexConnection client = connect();
      for (int i = 0; i < kEvents; ++i) client.publish({1, 0, {{"p", p}, {"i", i}}});
    });
  }
  std::vector<int> next(kPublishers, 0);
  for (int i = 0; i < kPublishers * kEvents; ++i) {
    const auto event = other.next();
    ASSERT_TRUE(event);
    const auto publisher = static_cast<std::size_t>(std::get<int>(event->attributes[0].value));
    ASSERT_EQ(std::get<int>(event->attributes[1].value), next[publisher]++);
  }
  for (auto& publisher : publishers) publisher.join();
}

TEST_F(Trex, EventsWithManyDifferentAttributesTakeNoMoreThanTheyHold) {
  TrexConnection client = connect();
  client.subscribe(all_of(2));
  trex::Bytes bytes;
  std::vector<std::string> names;
  for (int i = 0; i < 20'000; ++i) names.push_back("a" + std::to_string(i));
  for (const std::string& name : names) trex::encode(bytes, Publication{1, 0, {{name, 1}}});
  Publication wide{1, 0, {}};
  for (int i = 0; i < 4096; ++i) {
    wide.attributes.push_back({names[static_cast<std::size_t>(i)], true});
  }
  for (int i = 0; i < 20; ++i) trex::encode(bytes, wide);
  trex::encode(bytes, Publication{2, 0, {}});
  client.send(bytes);
  EXPECT_EQ(client.next()->type, 2);
  EXPECT_EQ(server->counters().malformed, 0u);
}

class TrexWithNames : public Trex {
 protected:
  TrexWithNames() : Trex(named()) {}
  static ServerOptions named() {
    ServerOptions options;
    options.trex.types = {{2, "Temp"}, {3, "Fire"}};
    return options;
  }
};

TEST_F(TrexWithNames, ConfiguredTypesHaveTheirNamesForOthers) {
  Client native = server.connect();
  subscribe(native, "Temp");
  subscribe(native, "Fire");
  TrexConnection client = subscriber(3);
  client.deploy(last_rule());
  client.publish({2, 0, {{"v", 7}}});
  client.publish({1, 0, {}});
  EXPECT_EQ(next(native).event.type, "Temp");
  EXPECT_EQ(next(native).event.type, "Fire");
  EXPECT_EQ(client.next()->type, 3);
  EXPECT_EQ((*native.rules())[0].name, "trex-Fire-1.Fire");
}

TEST_F(Trex, NumbersThatRulesAssignMeanTheTypesOfTheRules) {
  Client native = server.connect();
  deploy(native,
         "Assign 20 => Temp, 21 => Fire define Fire(heat: float) from Temp(value > 45) "
         "where heat = Temp.value;");
  TrexConnection client = subscriber(21);
  client.publish({20, 0, {{"value", 50}}});
  const auto fire = client.next();
  EXPECT_EQ(fire->type, 21);
  EXPECT_THAT(fire->attributes, ElementsAre(Attribute{"heat", 50.0f}));
}

TEST_F(Trex, ConnectionsAboveTheLimitAreClosed) {
  ServerOptions options = with_trex();
  options.limits.max_sessions = 1;
  options.limits.reserved_sessions = 0;
  RunningServer small(std::move(options));
  TrexConnection first(trex_address(*small));
  first.subscribe(all_of(1));
  first.publish({1, 0, {}});
  EXPECT_EQ(first.next()->type, 1);
  TrexConnection second(trex_address(*small));
  EXPECT_TRUE(second.is_closed());
}

TEST_F(Trex, AStopDeliversWhatWasAccepted) {
  TrexConnection client = subscriber(1);
  Client native = server.connect();
  ASSERT_TRUE(native.publish(std::vector{Event{"T1", std::nullopt, {}}}));
  server.stop();
  EXPECT_EQ(client.next()->type, 1);
  EXPECT_TRUE(client.is_closed());
}

}  // namespace
}  // namespace gorgo::server
