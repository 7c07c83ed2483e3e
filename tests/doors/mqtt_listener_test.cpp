#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>

#include "door_support.hpp"
#include "peer_support.hpp"

// The devices are clients of MQTT that others wrote: mosquitto_pub, and Paho's of Python.
namespace gorgo::mqtt_listener {
namespace {

using testing::HasSubstr;

class MqttListener : public testing::Test {
 protected:
  const Folder folder{"mqtt_listener"};
  const int port = free_port();

  void SetUp() override {
    ASSERT_EQ(Peer({"/usr/bin/python3", "-c", "import paho.mqtt"}).wait(), 0)
        << "python3-paho-mqtt is missing; ./run deps installs it";
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port); }
  std::string listener(const std::string& more = "") const {
    return "[doors.plant]\nkind = \"mqtt-listener\"\nlisten = \"" + address() +
           "\"\ntopics = [\"plant/{area}/{type}\"]\nformat = \"json\"\n" + more;
  }
  static void wait_until_open(const ServerWithDoors& server) {
    auto client = server.client();
    wait_for_door(client, "plant", [](const Door& door) { return door.state == "running"; });
  }
  /// The exit code of mosquitto_pub, which waits for the acknowledgement.
  int publish(const std::vector<std::string>& options, const std::string& message,
              const std::string& topic = "plant/A1/A") const {
    Command command{"mosquitto_pub", "-h", "127.0.0.1", "-p", std::to_string(port), "-t",
                    topic,           "-m", message};
    command.insert(command.end(), options.begin(), options.end());
    return Peer(command).wait();
  }
  /// A device that sends numbers until `ended`; returns the last.
  auto device(int to, const std::string& protocol, int qos) const {
    const std::string file = (folder / "last").string();
    return [=](const std::atomic<bool>& ended) {
      Peer device({"/usr/bin/python3", GORGO_TESTS "/device.py", std::to_string(to), protocol,
                   std::to_string(qos), file});
      while (!ended) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      device.signal(SIGTERM);
      EXPECT_EQ(device.wait(), 0) << "the device has no acknowledgement of all numbers";
      std::int64_t last = 0;
      std::ifstream(file) >> last;
      return last;
    };
  }
};

TEST_F(MqttListener, MessagesOfEveryQualityComeIn) {
  ServerWithDoors server(folder, listener());
  wait_until_open(server);
  auto client = server.client();
  ASSERT_TRUE(client.subscribe("A"));
  std::int64_t sent = 0;
  for (const char* version : {"5", "311"}) {
    for (const char* qos : {"0", "1", "2"}) {
      ASSERT_EQ(publish({"-V", version, "-q", qos}, "{\"v\":" + std::to_string(++sent) + "}"), 0);
      const auto got = client.next(60'000 * checker::kMillisecond);
      ASSERT_TRUE(got && *got) << "version " << version << ", quality " << qos;
      EXPECT_EQ((*got)->event.attributes.size(), 2u);
      for (const Attribute& one : (*got)->event.attributes) {
        EXPECT_EQ(one.value, one.name == "v" ? Value(sent) : Value("A1"));
      }
    }
  }
  // What is no event is acknowledged, and told.
  EXPECT_EQ(publish({"-q", "1"}, "nonsense"), 0);
  EXPECT_EQ(publish({"-q", "1"}, "{}", "elsewhere"), 0);
  wait_for_door(client, "plant", [](const Door& door) { return door.dead_letters == 2; });
  EXPECT_NE(publish({"-V", "31"}, "{}"), 0) << "MQTT 3.1 is not spoken";
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(MqttListener, DevicesAreKnownByAPassword) {
  folder.write("password", "sesame\n");
  ServerWithDoors server(folder, listener("user = \"device\"\npassword_file = \"" +
                                          (folder / "password").string() + "\"\n"));
  wait_until_open(server);
  for (const char* version : {"5", "311"}) {
    const auto with = [&](const char* user, const char* password) {
      return publish({"-V", version, "-q", "1", "-u", user, "-P", password}, "{}");
    };
    EXPECT_EQ(with("device", "sesame"), 0);
    EXPECT_NE(with("device", "open"), 0);
    EXPECT_NE(with("devices", "sesame"), 0);
    EXPECT_NE(publish({"-V", version, "-q", "1"}, "{}"), 0);
  }
  auto client = server.client();
  // Who tries passwords is told of.
  wait_for_door(client, "plant",
                [](const Door& door) { return door.events == 2 && door.dead_letters > 0; });
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(MqttListener, DevicesComeByTls) {
  make_certificates((folder / "").string());
  const std::string path = (folder / "right").string();
  ServerWithDoors server(folder, listener("certificate = \"" + path + ".pem\"\n" +
                                          "certificate_key = \"" + path + ".key\"\n"));
  wait_until_open(server);
  EXPECT_EQ(publish({"-q", "2", "--cafile", path + ".pem"}, "{}"), 0);
  EXPECT_NE(publish({"-q", "1"}, "{}"), 0) << "in the clear";
  auto client = server.client();
  wait_for_door(client, "plant", [](const Door& door) { return door.events == 1; });
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(MqttListener, TheWillOfADeviceIsPublishedWhenItsConnectionBreaks) {
  ServerWithDoors server(folder, listener());
  wait_until_open(server);
  auto client = server.client();
  ASSERT_TRUE(client.subscribe("Offline"));
  const std::vector<std::string> will{"--will-topic", "plant/A1/Offline", "--will-payload", "{}"};
  EXPECT_EQ(publish(will, "{}"), 0) << "it leaves in order";
  Peer device({"/usr/bin/python3", "-c", R"(
import sys, paho.mqtt.client as mqtt
client = mqtt.Client("device", clean_session=False)
client.will_set("plant/A2/Offline", "{}")
client.connect("127.0.0.1", int(sys.argv[1]))
client.loop_forever())",
               std::to_string(port)});
  wait_for_door(client, "plant",
                [](const Door& door) { return door.position == "1 sessions that last"; });
  device.end(SIGKILL);
  const auto got = client.next(60'000 * checker::kMillisecond);
  ASSERT_TRUE(got && *got);
  ASSERT_EQ((*got)->event.attributes.size(), 1u);
  EXPECT_EQ((*got)->event.attributes[0].value, Value("A2"));
  EXPECT_EQ(server.stop(), 0);
}

/// By the version of MQTT.
class MqttListenerOfVersion : public MqttListener, public testing::WithParamInterface<const char*> {
 protected:
  std::map<std::int64_t, int> numbers_that_come(int qos);
};

/// A device sends numbers while the server is killed and the network is cut. Returns how often each
/// has come, which has to be at least once. They come in any order, since Paho's client sends what
/// is new before it repeats what is old.
std::map<std::int64_t, int> MqttListenerOfVersion::numbers_that_come(int qos) {
  Network network(address());
  ServerWithDoors server(folder, listener() + "[doors.out]\nkind = \"file\"\nsubscribe = \"A\"\n" +
                                     "path = \"" + (folder / "out.ndjson").string() + "\"\n");
  wait_until_open(server);
  std::atomic<bool> ended = false;
  std::int64_t last = 0;
  std::thread publisher(
      [&, publish = device(network.port(), GetParam(), qos)] { last = publish(ended); });
  std::mt19937 random(static_cast<unsigned>(getpid()));
  int kills = 0;
  for (int i = 0; i < deaths(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50 + random() % 400));
    if (random() % 2 == 0) {
      network.cut();
    } else {
      ++kills;
      server.kill_and_start();
    }
  }
  ended = true;
  publisher.join();
  const Patience patience("for all numbers to leave");
  std::map<std::int64_t, int> numbers;
  while (static_cast<std::int64_t>(numbers.size()) < last && patience.lasts()) {
    numbers.clear();
    for (const std::string& line : folder.lines("out.ndjson")) ++numbers[number_in(line)];
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_GT(last, 0);
  EXPECT_EQ(numbers.size(), static_cast<std::size_t>(last));
  if (!numbers.empty()) {
    EXPECT_EQ(numbers.rbegin()->first, last);
  }
  EXPECT_EQ(server.stop(), 0);
  std::printf("%d kills, %d cuts, %lld numbers\n", kills, deaths() - kills,
              static_cast<long long>(last));
  return numbers;
}

TEST_P(MqttListenerOfVersion, MessagesOfQuality2ComeOnceWhateverIsKilledOrCut) {
  for (const auto& [number, times] : numbers_that_come(2)) EXPECT_EQ(times, 1) << number;
}

TEST_P(MqttListenerOfVersion, NoMessageOfQuality1IsLostWhateverIsKilledOrCut) {
  numbers_that_come(1);
}

INSTANTIATE_TEST_SUITE_P(Versions, MqttListenerOfVersion, testing::Values("5", "311"),
                         [](const auto& version) {
                           return version.param[0] == '5' ? "Five" : "ThreeOneOne";
                         });

}  // namespace
}  // namespace gorgo::mqtt_listener
