#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "doors/mqtt/device_packets.hpp"
#include "doors/mqtt/device_sessions.hpp"

namespace gorgo::doors::mqtt {
namespace {

using std::chrono::seconds;

std::string content(std::initializer_list<int> values) { return {values.begin(), values.end()}; }

Result<Greeting> greeting_of(const std::string& greeting) {
  bool wrong_version = false;
  return read_greeting({Head::connect, 0, greeting}, wrong_version);
}

TEST(MqttDevices, AGreetingSaysWhoItIsAndHowItEnds) {
  // Session Expiry Interval 9; a will with a Will Delay Interval; a user and a password.
  const auto greeting = greeting_of(
      content({0, 4,    'M', 'Q', 'T', 'T', 5, 0xc6, 0,   60, 5, 0x11, 0,   0, 0, 9,   0, 1, 'd',
               5, 0x18, 0,   0,   0,   1,   0, 1,    'w', 0,  2, 'h',  'i', 0, 1, 'u', 0, 1, 'p'}));
  ASSERT_TRUE(greeting) << greeting.error().to_string();
  EXPECT_EQ(greeting->version, Version::v5);
  EXPECT_EQ(greeting->client_id, "d");
  EXPECT_TRUE(greeting->clean_start);
  EXPECT_EQ(greeting->session_expiry, 9u);
  EXPECT_EQ(greeting->keep_alive, 60);
  ASSERT_TRUE(greeting->will);
  EXPECT_EQ(greeting->will->topic, "w");
  EXPECT_EQ(greeting->will->payload, "hi");
  EXPECT_EQ(greeting->user, "u");
  EXPECT_EQ(greeting->password, "p");
}

TEST(MqttDevices, ASessionOf311LastsUnlessItIsClean) {
  const auto lasting = greeting_of(content({0, 4, 'M', 'Q', 'T', 'T', 4, 0, 0, 0, 0, 1, 'd'}));
  ASSERT_TRUE(lasting);
  EXPECT_EQ(lasting->session_expiry, ~std::uint32_t{0});
  const auto clean = greeting_of(content({0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 0, 0, 1, 'd'}));
  ASSERT_TRUE(clean);
  EXPECT_EQ(clean->session_expiry, 0u);
}

TEST(MqttDevices, NonsenseIsAnError) {
  bool wrong_version = false;
  const auto old = content({0, 6, 'M', 'Q', 'I', 's', 'd', 'p', 3, 2, 0, 0, 0, 1, 'd'});
  EXPECT_FALSE(read_greeting({Head::connect, 0, old}, wrong_version));
  EXPECT_TRUE(wrong_version);
  EXPECT_FALSE(greeting_of(content({0, 4, 'M', 'Q', 'T', 'T', 5, 3, 0, 0, 0, 0, 1, 'd'})))
      << "a reserved flag";
  EXPECT_FALSE(greeting_of(content({0, 4, 'M', 'Q', 'T', 'T', 5, 0, 0, 0, 2, 0x77, 0, 0, 1, 'd'})))
      << "an unknown property";
  EXPECT_FALSE(greeting_of(content({0, 4, 'M', 'Q', 'T', 'T', 4, 0x80, 0, 0, 0, 1, 'd'})))
      << "no user";
  EXPECT_FALSE(greeting_of(content({0, 4, 'M', 'Q', 'T', 'T', 4, 0, 0, 0, 0, 1, 'd', 'x'})))
      << "more than there should be";
  EXPECT_FALSE(read_request({Head::subscribe, 2, content({0, 1, 0})}, Version::v5)) << "no filter";
  EXPECT_FALSE(read_request({Head::pubrel, 2, content({0, 0})}, Version::v5)) << "the packet id 0";
  EXPECT_FALSE(read_publish({Head::publish, 6, content({0, 1, 'a', 0, 1, 0})}, Version::v5));
}

TEST(MqttDevices, AFarewellMayLeaveTheWillAndChangeTheSession) {
  auto parting = read_parting({Head::disconnect, 0, ""}, Version::v5);
  ASSERT_TRUE(parting);
  EXPECT_FALSE(parting->keeps_will);
  parting = read_parting({Head::disconnect, 0, content({4, 5, 0x11, 0, 0, 0, 0})}, Version::v5);
  ASSERT_TRUE(parting);
  EXPECT_TRUE(parting->keeps_will);
  EXPECT_EQ(parting->session_expiry, 0u);
}

TEST(MqttDevices, ALargePacketDoesNotKeepItsRoom) {
  Cutter cutter(std::size_t{1} << 20, 2048);
  std::string packet;
  put_packet(packet, Head::publish, 0, std::string(500'000, 'x'));
  for (std::string_view left = packet; !left.empty();) {
    const auto space = cutter.space();
    const std::size_t size = std::min(space.size, left.size());
    std::memcpy(space.data, left.data(), size);
    cutter.fill(size);
    left.remove_prefix(size);
  }
  EXPECT_GE(cutter.capacity(), packet.size());
  const auto frame = cutter.next();
  ASSERT_TRUE(frame && *frame);
  cutter.space();
  EXPECT_LE(cutter.capacity(), 8192u);
}

TEST(MqttDeviceSessions, AMessageIsTakenOnceUntilItIsReleased) {
  using Hold = DeviceSessions::Hold;
  const DeviceSessions::Time start;
  DeviceSessions sessions;
  EXPECT_EQ(sessions.begin(1, false, 10), false);
  EXPECT_EQ(sessions.hold(1, 7, 2), Hold::is_new);
  EXPECT_EQ(sessions.hold(1, 7, 2), Hold::came_before);
  EXPECT_EQ(sessions.hold(1, 8, 2), Hold::is_new);
  EXPECT_EQ(sessions.hold(1, 9, 2), Hold::too_many);
  EXPECT_EQ(sessions.held(1), 2u);
  DeviceSessions again(sessions.save(), start);
  EXPECT_EQ(again.begin(1, false, 10), true);
  EXPECT_EQ(again.hold(1, 7, 2), Hold::came_before) << "after a start, too";
  again.release(1, 7);
  EXPECT_TRUE(again.has_changed());
  EXPECT_EQ(again.hold(1, 7, 2), Hold::is_new);
  EXPECT_EQ(again.begin(1, true, 10), false) << "a clean session knows nothing";
  EXPECT_EQ(again.hold(1, 8, 2), Hold::is_new);
}

TEST(MqttDeviceSessions, ASessionGoesWhenItsTimeIsOver) {
  const DeviceSessions::Time start;
  DeviceSessions sessions;
  sessions.begin(1, false, 10);
  sessions.begin(2, false, ~std::uint32_t{0});
  sessions.begin(3, false, 0);
  EXPECT_EQ(sessions.lasting(), 2u);
  for (const int device : {1, 2, 3}) sessions.end(static_cast<std::uint64_t>(device), {}, start);
  EXPECT_EQ(sessions.begin(3, false, 0), false);
  sessions.forget_expired(start + seconds(9));
  EXPECT_EQ(sessions.lasting(), 2u);
  sessions.forget_expired(start + seconds(10));
  EXPECT_EQ(sessions.begin(1, false, 10), false);
  EXPECT_EQ(sessions.begin(2, false, 10), true);
  sessions.end(2, 0, start);
  EXPECT_EQ(sessions.begin(2, false, 10), false) << "it has said that it does not come back";
}

TEST(MqttDeviceSessions, TheSessionOfTheDeviceThatIsAwayLongestMakesRoom) {
  const DeviceSessions::Time start;
  DeviceSessions sessions;
  for (std::uint64_t device = 0; device < DeviceSessions::kMostLasting; ++device) {
    ASSERT_EQ(sessions.begin(device, false, 1000), false);
  }
  EXPECT_EQ(sessions.begin(99'999, false, 1000), std::nullopt) << "all of them are here";
  EXPECT_EQ(sessions.begin(99'998, true, 0), false) << "one that does not last needs no room";
  sessions.end(5, {}, start + seconds(1));
  sessions.end(6, {}, start);
  EXPECT_EQ(sessions.begin(99'999, false, 1000), false);
  EXPECT_EQ(sessions.begin(5, false, 1000), true);
  sessions.end(5, {}, start);
  EXPECT_EQ(sessions.begin(6, false, 1000), false);
}

}  // namespace
}  // namespace gorgo::doors::mqtt
