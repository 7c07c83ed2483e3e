#include "cluster/wire.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gorgo::cluster {
namespace {

BatchBuilder two_events() {
  BatchBuilder batch;
  batch.add({"Temp", 1000, {{"area", std::string("A1")}, {"value", 46.5}}});
  batch.add({"Smoke", 2000, {{"area", std::string("A2")}}});
  return batch;
}

std::string text_of(const protocol::Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

TEST(ClusterWire, EventsComeBackWithTheirPlaces) {
  BatchBuilder batch = two_events();
  const std::vector<Place> places = {{7, 0}, {9, 2}};
  const auto received = ReceivedEvents::decode(text_of(encode_events(batch.batch(), places)));
  ASSERT_TRUE(received) << received.error().to_string();
  EXPECT_EQ(received->places(), places);
  BatchCursor cursor(received->batch());
  const Event first = cursor.to_event();
  EXPECT_EQ(first.type, "Temp");
  EXPECT_EQ(first.timestamp, 1000);
  EXPECT_EQ(std::get<std::string>(first.attributes[0].value), "A1");
  cursor.advance();
  EXPECT_EQ(cursor.to_event().type, "Smoke");
}

TEST(ClusterWire, NoEventsAreAPayload) {
  BatchBuilder none;
  const auto received = ReceivedEvents::decode(text_of(encode_events(none.batch(), {})));
  ASSERT_TRUE(received) << received.error().to_string();
  EXPECT_EQ(received->events(), 0u);
}

TEST(ClusterWire, WhatIsNoPayloadIsAnError) {
  BatchBuilder batch = two_events();
  const std::string right =
      text_of(encode_events(batch.batch(), std::vector<Place>{{1, 0}, {2, 0}}));
  EXPECT_FALSE(ReceivedEvents::decode(""));
  EXPECT_FALSE(ReceivedEvents::decode("hello"));
  EXPECT_FALSE(ReceivedEvents::decode(right.substr(0, right.size() / 2)));
  EXPECT_FALSE(
      ReceivedEvents::decode(text_of(encode_events(batch.batch(), std::vector<Place>{{1, 0}}))));
  BatchBuilder unstamped;
  unstamped.add({"Temp", std::nullopt, {}});
  EXPECT_FALSE(ReceivedEvents::decode(
      text_of(encode_events(unstamped.batch(), std::vector<Place>{{1, 0}}))));
}

TEST(ClusterWire, PlacesHaveTexts) {
  const InputPlaces input{{12, 0}, {17, 3}};
  EXPECT_EQ(input.text(), "12-0/17-3");
  ASSERT_TRUE(InputPlaces::parse("12-0/17-3"));
  EXPECT_EQ(InputPlaces::parse("12-0/17-3")->last, input.last);
  const OutputPlace output{120, 3, 2};
  EXPECT_EQ(output.text(), "120-3-2");
  EXPECT_EQ(OutputPlace::parse("120-3-2"), output);
  for (const char* const wrong : {"", "1", "1-2", "1-2-", "1-2-x", "-1-2-3", "1-2-3-4", "1-2-3 "}) {
    EXPECT_FALSE(OutputPlace::parse(wrong)) << wrong;
  }
  for (const char* const wrong : {"", "1-2", "1-2/3", "1-2/3-4/5", "a-0/1-0"}) {
    EXPECT_FALSE(InputPlaces::parse(wrong)) << wrong;
  }
}

TEST(ClusterWire, RulesComeBack) {
  const RulesMessage rules{3, {{"a.tesla", "define A()\nfrom B();"}, {"b", "\"ä\""}}, {"a", "b.x"}};
  const auto parsed = RulesMessage::parse(rules.to_json());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, rules);
  for (const char* const wrong : {"", "[]", "{}", "{\"version\":\"x\",\"texts\":[],\"rules\":[]}",
                                  "{\"version\":1,\"texts\":[1],\"rules\":[]}"}) {
    EXPECT_FALSE(RulesMessage::parse(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace gorgo::cluster
