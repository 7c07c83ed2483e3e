#include "doors/mqtt/packets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "doors/mqtt/seen.hpp"

namespace gorgo::doors::mqtt {
namespace {

using Kind = Packet::Kind;

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

void put(Cutter& cutter, std::string_view text) {
  const auto space = cutter.space();
  ASSERT_LE(text.size(), space.size);
  std::memcpy(space.data, text.data(), text.size());
  cutter.fill(text.size());
}

/// The next packet that has come; nothing: it is not complete.
Result<std::optional<Packet>> next(Cutter& cutter, Version version = Version::v5) {
  const auto frame = cutter.next();
  if (!frame) return frame.error();
  if (!*frame) return std::optional<Packet>();
  const auto packet = read_packet(**frame, version);
  if (!packet) return packet.error();
  return std::optional(*packet);
}

Result<std::optional<Packet>> first_in(const std::string& text) {
  static Cutter cutter;  // what a packet refers to outlives this call
  cutter = Cutter();
  put(cutter, text);
  return next(cutter);
}

TEST(MqttPackets, PublishReadsBackWhereverItIsCut) {
  std::string packets;
  append_publish(packets, {.topic = "a/b", .payload = "one", .qos = 1, .packet_id = 7});
  append_publish(packets, {.topic = "a/b", .payload = std::string(300, 'x')});
  for (std::size_t cut = 0; cut <= packets.size(); ++cut) {
    Cutter cutter;
    std::vector<std::string> payloads;
    for (const auto& part : {packets.substr(0, cut), packets.substr(cut)}) {
      put(cutter, part);
      while (true) {
        const auto packet = next(cutter);
        ASSERT_TRUE(packet);
        if (!*packet) break;
        ASSERT_EQ((*packet)->kind, Kind::publish);
        EXPECT_EQ((*packet)->publish.topic, "a/b");
        payloads.emplace_back((*packet)->publish.payload);
      }
    }
    EXPECT_EQ(payloads, (std::vector<std::string>{"one", std::string(300, 'x')}));
  }
}

TEST(MqttPackets, WhatABrokerSays) {
  // CONNACK: a session, properties Receive Maximum 20 and Assigned Client Identifier "g".
  auto packet = first_in(bytes({0x20, 10, 1, 0, 7, 0x21, 0, 20, 0x12, 0, 1, 'g'}));
  ASSERT_TRUE(packet && *packet);
  EXPECT_TRUE((*packet)->connected.session_present);
  EXPECT_EQ((*packet)->connected.receive_maximum, 20);
  // A PUBLISH that was sent before, with a Message Expiry Interval.
  packet = first_in(bytes({0x3a, 13, 0, 1, 'a', 1, 2, 5, 0x02, 0, 0, 0, 9, 'h', 'i'}));
  ASSERT_TRUE(packet && *packet);
  EXPECT_TRUE((*packet)->publish.repeated);
  EXPECT_EQ((*packet)->publish.packet_id, 258);
  EXPECT_EQ((*packet)->publish.payload, "hi");
  packet = first_in(bytes({0x40, 4, 0, 9, 0x87, 0}));
  ASSERT_TRUE(packet && *packet);
  EXPECT_EQ((*packet)->acknowledged.packet_id, 9);
  EXPECT_EQ((*packet)->acknowledged.reason, 0x87);
  packet = first_in(bytes({0x90, 5, 0, 1, 0, 1, 0x8f}));
  ASSERT_TRUE(packet && *packet);
  EXPECT_EQ((*packet)->acknowledged.reason, 0x8f) << "the worst reason";
  packet = first_in(bytes({0xe0, 0}));
  ASSERT_TRUE(packet && *packet);
  EXPECT_EQ((*packet)->kind, Kind::disconnect);
}

TEST(MqttPackets, NonsenseIsAnError) {
  EXPECT_FALSE(first_in(bytes({0x50, 2, 0, 1}))) << "an answer to what nobody sends";
  EXPECT_FALSE(first_in(bytes({0x30, 0xff, 0xff, 0xff, 0xff, 0xff}))) << "a length without an end";
  EXPECT_FALSE(first_in(bytes({0x30, 2, 0, 9}))) << "a topic that is longer than the packet";
  EXPECT_FALSE(first_in(bytes({0x32, 6, 0, 1, 'a', 0, 0, 0}))) << "the packet id 0";
  EXPECT_FALSE(first_in(bytes({0x34, 6, 0, 1, 'a', 0, 1, 0}))) << "a quality nobody asked for";
  EXPECT_FALSE(first_in(bytes({0x20, 5, 0, 0, 2, 0x77, 0}))) << "an unknown property";
  EXPECT_FALSE(first_in(bytes({0x90, 3, 0, 1, 0}))) << "no reason";
  EXPECT_FALSE(first_in(bytes({0x90, 7, 0, 1, 0xff, 0xff, 0xff, 0xff, 0}))) << "no length";
}

TEST(MqttSeen, ForgetsWhatTheBrokerHasAnAcknowledgementOf) {
  using Known = Seen::Known;
  const Seen::Time start;
  Seen seen;
  seen.add({1, 11});
  seen.add({2, 22});
  EXPECT_EQ(seen.find({1, 11}), Known::uncommitted);
  EXPECT_EQ(seen.find({1, 12}), Known::no) << "another message";
  seen.acknowledged({1, 11}, 1);
  seen.acknowledged({2, 22}, 2);
  EXPECT_EQ(seen.find({1, 11}), Known::done);
  seen.answered(1, start);
  EXPECT_EQ(seen.find({1, 11}), Known::no);
  EXPECT_EQ(seen.find({2, 22}), Known::done);
}

TEST(MqttSeen, KeepsBothOfTwoMessagesWithOneId) {
  using Known = Seen::Known;
  const Seen::Time start;
  Seen seen;
  seen.add({1, 11});
  seen.acknowledged({1, 11}, 1);
  seen.reconnected(start);
  seen.add({1, 12});  // the broker did not get the acknowledgement, and has used the id again
  EXPECT_EQ(seen.find({1, 12}), Known::uncommitted);
  seen.acknowledged({1, 12}, 1);
  seen.answered(1, start);  // the broker may have taken it for that of the first
  EXPECT_EQ(seen.find({1, 11}), Known::done);
  EXPECT_EQ(seen.find({1, 12}), Known::done);
  EXPECT_EQ(Seen(seen.save()).size(), 2u);
  seen.add({1, 13});
  EXPECT_EQ(seen.size(), 2u) << "one of those before it stays";
}

TEST(MqttSeen, RemembersOverConnectionsAndStarts) {
  using Known = Seen::Known;
  const Seen::Time start;
  Seen seen;
  seen.add({1, 11});
  seen.add({65535, ~std::uint64_t{0}});
  seen.acknowledged({1, 11}, 1);
  seen.reconnected(start);
  seen.answered(5, start);  // pings of the new connection say nothing about the old one
  EXPECT_EQ(seen.find({1, 11}), Known::done);
  Seen again(seen.save());
  EXPECT_EQ(again.find({1, 11}), Known::done);
  EXPECT_EQ(again.find({65535, ~std::uint64_t{0}}), Known::done);
  again.reconnected(start);
  again.answered(1, start + std::chrono::minutes(1));
  EXPECT_EQ(again.size(), 0u) << "the broker would have sent them again by now";
}

TEST(MqttSeen, AcknowledgesOnAConnectionOnlyWhatCameOnIt) {
  using Known = Seen::Known;
  const Seen::Time start;
  Seen seen;
  seen.add({1, 11});
  seen.add({2, 22});
  seen.reconnected(start);
  seen.came_again({2, 22});
  EXPECT_FALSE(seen.committed({1, 11})) << "the broker may have given the id to another message";
  EXPECT_TRUE(seen.committed({2, 22}));
  EXPECT_EQ(seen.find({1, 11}), Known::done) << "it is acknowledged when it comes again";
  seen.add({1, 12});
  EXPECT_TRUE(seen.committed({1, 12}));
}

TEST(MqttPackets, Version311HasNoProperties) {
  std::string packets;
  append_connect(packets, {.version = Version::v3_1_1, .client_id = "g", .keep_alive = 30});
  EXPECT_EQ(packets, bytes({0x10, 13, 0, 4, 'M', 'Q', 'T', 'T', 4, 0, 0, 30, 0, 1, 'g'}));
  packets.clear();
  append_publish(packets, {.topic = "a", .payload = "hi", .qos = 1, .packet_id = 7},
                 Version::v3_1_1);
  EXPECT_EQ(packets, bytes({0x32, 7, 0, 1, 'a', 0, 7, 'h', 'i'}));
  Cutter cutter;
  put(cutter, packets + bytes({0x20, 2, 1, 5, 0x90, 3, 0, 1, 0x80}));
  auto packet = next(cutter, Version::v3_1_1);
  ASSERT_TRUE(packet && *packet);
  EXPECT_EQ((*packet)->publish.payload, "hi");
  packet = next(cutter, Version::v3_1_1);
  ASSERT_TRUE(packet && *packet);
  EXPECT_TRUE((*packet)->connected.session_present);
  EXPECT_EQ(text_of_reason((*packet)->connected.reason), "not authorized");
  packet = next(cutter, Version::v3_1_1);
  ASSERT_TRUE(packet && *packet);
  EXPECT_EQ((*packet)->acknowledged.reason, 0x80);
}

}  // namespace
}  // namespace gorgo::doors::mqtt
