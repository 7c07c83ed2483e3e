#include "protocol/trex/packet_cutter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support.hpp"

namespace gorgo::protocol::trex {
namespace {

constexpr std::size_t kMost = 1000;

void feed(PacketCutter& cutter, std::span<const std::uint8_t> bytes) {
  std::ranges::copy(bytes, cutter.space().begin());
  cutter.fill(bytes.size());
}

TEST(PacketCutter, FindsPacketsThatCameTogether) {
  PacketCutter cutter(kMost);
  feed(cutter, from_hex("65 00000000 05 00000003 010203 00 00000001"));
  const auto ping = cutter.next().value().value();
  EXPECT_EQ(ping.kind, 0x65);
  EXPECT_TRUE(ping.body.empty());
  const auto unknown = cutter.next().value().value();
  EXPECT_EQ(unknown.kind, 5);
  EXPECT_THAT(unknown.body, testing::ElementsAre(1, 2, 3));
  EXPECT_FALSE(cutter.next().value());
  EXPECT_EQ(cutter.open(), 5u);
}

TEST(PacketCutter, WaitsForTheRestOfAPacketByteByByte) {
  PacketCutter cutter(kMost);
  const Bytes bytes = from_hex(kPublication);
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    feed(cutter, std::span(bytes).subspan(i, 1));
    ASSERT_FALSE(cutter.next().value());
  }
  feed(cutter, std::span(bytes).last(1));
  const auto packet = cutter.next().value();
  ASSERT_TRUE(packet);
  EXPECT_TRUE(std::ranges::equal(packet->body, body_of(bytes)));
}

TEST(PacketCutter, RefusesLengthsThatNoPacketHas) {
  for (const char* length : {"ffffffff", "80000000", "7fffffff", "000003e4"}) {
    PacketCutter cutter(kMost);
    feed(cutter, from_hex("00" + std::string(length)));
    const auto cut = cutter.next();
    ASSERT_FALSE(cut) << length;
    EXPECT_THAT(cut.error().message, testing::HasSubstr("announces a body of"));
  }
}

TEST(PacketCutter, AnnouncedBytesTakeNoMemory) {
  PacketCutter cutter(std::size_t{1} << 30);
  feed(cutter, from_hex("00 3fffff00"));
  EXPECT_FALSE(cutter.next().value());
  EXPECT_LT(cutter.held(), std::size_t{1} << 20);
}

}  // namespace
}  // namespace gorgo::protocol::trex
