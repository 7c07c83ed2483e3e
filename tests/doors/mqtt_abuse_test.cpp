#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio.hpp>
#include <thread>

#include "doors/mqtt/mqtt_listener.hpp"

// Devices that ask for more than others could bear.
namespace gorgo::doors::mqtt {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using std::chrono::milliseconds;
using testing::HasSubstr;

/// A device that sends what it is told to.
class RawDevice {
 public:
  RawDevice(unsigned short port, Version version, const std::string& id, bool lasts = false,
            const std::string& password = "") {
    socket_.connect({asio::ip::make_address("127.0.0.1"), port});
    std::string content;
    put_text(content, "MQTT");
    put8(content, static_cast<std::uint8_t>(version));
    put8(content, static_cast<std::uint8_t>((lasts ? 0 : 2) | (password.empty() ? 0 : 0xC0)));
    put16(content, 0);
    if (version == Version::v5) put_length(content, 0);
    put_text(content, id);
    if (!password.empty()) {
      put_text(content, "device");
      put_text(content, password);
    }
    std::string packet;
    put_packet(packet, Head::connect, 0, content);
    send(packet);
  }
  void send(const std::string& bytes) { asio::write(socket_, asio::buffer(bytes)); }
  /// Waits for a packet. Nothing: the connection has ended.
  std::optional<std::pair<Head, std::string>> next() {
    while (true) {
      const auto frame = cutter_.next();
      if (!frame) return std::nullopt;
      if (*frame) return std::pair((*frame)->head, std::string((*frame)->content));
      const auto space = cutter_.space();
      boost::system::error_code ended;
      const auto size = socket_.read_some(asio::buffer(space.data, space.size), ended);
      if (ended) return std::nullopt;
      cutter_.fill(size);
    }
  }
  /// Whether something can be read.
  bool has_news() { return socket_.available() > 0; }
  void read_and_forget() {
    std::array<char, 65536> bytes{};
    boost::system::error_code ended;
    while (!ended) socket_.read_some(asio::buffer(bytes), ended);
  }
  void close() {
    boost::system::error_code ignored;
    socket_.shutdown(Tcp::socket::shutdown_both, ignored);
  }

 private:
  asio::io_context io_;
  Tcp::socket socket_{io_};
  Cutter cutter_;
};

std::string message(Version version, std::uint8_t qos, std::uint16_t id) {
  std::string content, packet;
  put_text(content, "plant/A1/A");
  put16(content, id);
  if (version == Version::v5) put_length(content, 0);
  content += "{\"v\":" + std::to_string(id) + "}";
  put_packet(packet, Head::publish, static_cast<std::uint8_t>(qos << 1), content);
  return packet;
}

std::string release(std::uint16_t id) {
  std::string content, packet;
  put16(content, id);
  put_packet(packet, Head::pubrel, 2, content);
  return packet;
}

unsigned short free_port() {
  asio::io_context io;
  return Tcp::acceptor(io, {asio::ip::make_address("127.0.0.1"), 0}).local_endpoint().port();
}

class MqttAbuse : public testing::Test {
 protected:
  const unsigned short port = free_port();
  Settings settings;
  MqttListener::Secrets secrets;
  std::unique_ptr<MqttListener> listener;
  std::uint32_t events = 0;
  std::vector<std::string> reasons, payloads;

  void open() {
    settings.kind = "mqtt-listener";
    settings.listen = "127.0.0.1:" + std::to_string(port);
    settings.topics = {"plant/{area}/{type}"};
    settings.format = "json";
    listener = std::make_unique<MqttListener>(
        settings, [] { return std::make_shared<const Schema>(); }, "", std::move(secrets));
    poll();
  }
  /// As the server does, which commits at once what has come.
  void poll() {
    auto arrived = listener->poll(milliseconds(10));
    ASSERT_TRUE(arrived) << arrived.error().to_string();
    events += arrived->events.events();
    for (const DeadLetter& letter : arrived->dead) {
      reasons.push_back(letter.reason);
      payloads.push_back(letter.payload);
    }
    if (arrived->has_news()) listener->committed(arrived->position);
  }
  /// Polls until the device has something to read.
  void wait_for(RawDevice& device) {
    while (!device.has_news()) ASSERT_NO_FATAL_FAILURE(poll());
  }
};

/// Many devices may have one address, so that a wrong password of one keeps out none of them; but
/// nobody may try passwords as fast as connections come.
TEST_F(MqttAbuse, WhoTriesPasswordsMaySoonTryTwiceASecond) {
  settings.user = "device";
  secrets.password = "sesame";
  open();
  const auto answer_to = [this](const std::string& password, Version version = Version::v5) {
    RawDevice device(port, version, "d", false, password);
    wait_for(device);
    const auto answer = device.next();
    return answer && answer->second.size() > 1 ? static_cast<std::uint8_t>(answer->second[1]) : 255;
  };
  for (int i = 0; i < 50; ++i) EXPECT_EQ(answer_to("guess"), 0x86);
  EXPECT_EQ(answer_to("sesame"), 0);
  int guesses = 50;
  while (answer_to("guess") == 0x86) ASSERT_LT(++guesses, 10'000);
  EXPECT_GE(guesses, 99);
  EXPECT_THAT(answer_to("sesame"), testing::AnyOf(0x9f, 0));
  EXPECT_THAT(answer_to("sesame", Version::v3_1_1), testing::AnyOf(3, 0));
  while (answer_to("sesame") != 0) {
  }
}

TEST_F(MqttAbuse, TheFirstPacketIsSmall) {
  open();
  RawDevice stranger(port, Version::v5, std::string(65'000, 'x'), false, std::string(1000, 'p'));
  std::atomic<bool> is_over = false;
  std::thread listening([&] {
    while (!is_over) poll();
  });
  EXPECT_FALSE(stranger.next());
  is_over = true;
  listening.join();
}

TEST_F(MqttAbuse, WhoAsksWithoutAPauseHoldsUpNobody) {
  open();
  RawDevice greedy(port, Version::v5, "greedy"), honest(port, Version::v5, "honest");
  wait_for(greedy);
  wait_for(honest);
  ASSERT_EQ(honest.next()->first, Head::connack);
  std::string pings;
  for (int i = 0; i < 100'000; ++i) put_packet(pings, Head::pingreq, 0, "");
  std::thread reader([&] { greedy.read_and_forget(); });
  std::atomic<bool> is_flooding = false;
  std::thread writer([&] {
    try {
      while (true) {
        greedy.send(pings);
        is_flooding = true;
      }
    } catch (const boost::system::system_error&) {
      is_flooding = true;  // the connection was ended, which is well, too
    }
  });
  while (!is_flooding) poll();
  honest.send(message(Version::v5, 1, 1));
  wait_for(honest);
  EXPECT_EQ(honest.next()->first, Head::puback);
  EXPECT_EQ(events, 1u);
  greedy.close();
  writer.join();
  reader.join();
}

TEST_F(MqttAbuse, OfAPacketThatIsNoneTheBeginningIsKept) {
  open();
  const auto payload_of = [this](const std::string& packet) {
    RawDevice device(port, Version::v5, "d");
    wait_for(device);
    device.send(packet);
    payloads.clear();
    while (payloads.empty()) poll();
    return payloads[0];
  };
  std::string content, packet;
  put_text(content, "plant/A1/A");
  put_packet(packet, Head::publish, 0, content + std::string(DeviceConnection::kMostPacket, 'x'));
  EXPECT_THAT(payload_of(packet.substr(0, 1000)), testing::StrEq(packet.substr(0, 1000)));
  // A topic with a wildcard.
  content.clear();
  packet.clear();
  put_text(content, "plant/#");
  put_length(content, 0);
  content += "{\"v\":1}";
  put_packet(packet, Head::publish, 0, content);
  EXPECT_EQ(payload_of(packet), "{\"v\":1}");
}

TEST_F(MqttAbuse, ADeviceOfMqtt5HoldsNoMoreThanItWasTold) {
  settings.max_in_flight = 3;
  open();
  RawDevice device(port, Version::v5, "d");
  wait_for(device);
  ASSERT_EQ(device.next()->first, Head::connack);
  for (std::uint16_t id = 1; id <= 4; ++id) device.send(message(Version::v5, 2, id));
  std::thread polls([&] {
    while (reasons.empty()) poll();
    poll();
  });
  auto last = device.next();
  while (last && last->first == Head::pubrec) last = device.next();
  polls.join();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->first, Head::disconnect);
  EXPECT_EQ(last->second.substr(0, 1), "\x93");
  EXPECT_EQ(events, 3u);
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_THAT(reasons[0], HasSubstr("max_in_flight"));
}

TEST_F(MqttAbuse, ADeviceOf311ComesAgainWithWhatCouldNotBeHeld) {
  constexpr std::uint16_t kMost = 4096, kAll = kMost + 2;
  open();
  std::jthread polls([this](const std::stop_token& end) {
    while (!end.stop_requested()) poll();
  });
  std::uint16_t first = 1;
  for (int connection = 0; connection < 2; ++connection) {
    RawDevice device(port, Version::v3_1_1, "d", true);
    ASSERT_EQ(device.next()->first, Head::connack);
    for (std::uint16_t id = first; id <= kAll; ++id) {
      device.send(message(Version::v3_1_1, 2, id));
    }
    std::uint16_t taken = first;
    const std::uint16_t most = connection == 0 ? kMost : kAll;
    for (; taken <= most; ++taken) ASSERT_EQ(device.next()->first, Head::pubrec) << taken;
    for (std::uint16_t id = first; id < taken; ++id) device.send(release(id));
    if (connection == 0) {
      while (const auto packet = device.next()) EXPECT_EQ(packet->first, Head::pubcomp);
    }
    first = taken;
  }
  polls.request_stop();
  polls.join();
  EXPECT_EQ(events, std::uint32_t{kAll});
  EXPECT_THAT(reasons, testing::IsEmpty());
}

}  // namespace
}  // namespace gorgo::doors::mqtt
