#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "door_support.hpp"
#include "doors/mqtt/mqtt_sink.hpp"
#include "peer_support.hpp"

// The broker is Mosquitto.
namespace gorgo {
namespace {

using testing::HasSubstr;
namespace mqtt = doors::mqtt;

/// A broker that keeps what it has when it is stopped.
class Mosquitto {
 public:
  explicit Mosquitto(const Folder& folder, const std::string& more = "")
      : folder_(folder), port_(free_port()) {
    fs::create_directories(folder / "broker");
    fs::permissions(folder / "broker", fs::perms::all);
    folder.write("mosquitto.conf", "listener " + std::to_string(port_) +
                                       " 127.0.0.1\nallow_anonymous true\npersistence true\n"
                                       "persistence_location " +
                                       (folder / "broker").string() +
                                       "/\nuser root\nmax_queued_messages 0\nlog_type error\n" +
                                       more);
    start();
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  void stop(int signal = SIGTERM) { process_->end(signal); }
  void start() {
    process_.emplace(Command{GORGO_MOSQUITTO, "-c", (folder_ / "mosquitto.conf").string()});
  }

 private:
  const Folder& folder_;
  const int port_;
  std::optional<Peer> process_;
};

/// Publishes as any client of a broker does, and knows what the broker has.
class Device {
 public:
  explicit Device(const std::string& broker) {
    settings_.broker = broker;
    session_.emplace(settings_, mqtt::Session::Manner{.client_id = "device"});
    const Patience patience("for the broker " + broker);
    while (!session_->open() && patience.lasts()) std::this_thread::yield();
  }

  /// Whether the broker has acknowledged the message.
  bool publish(const std::string& topic, const std::string& payload) {
    std::string packet;
    mqtt::append_publish(packet, {.topic = topic, .payload = payload, .qos = 1, .packet_id = 1});
    if (!session_->is_open() || !session_->send(packet)) return false;
    const Patience patience("for the acknowledgement of " + payload);
    while (patience.lasts()) {
      const auto answer = session_->next(std::chrono::seconds(10));
      if (!answer || !*answer) return false;
      if ((*answer)->kind == mqtt::Packet::Kind::published) return true;
    }
    return false;
  }

 private:
  doors::Settings settings_;
  std::optional<mqtt::Session> session_;
};

std::string source(const std::string& broker, const std::string& more = "") {
  return "[doors.plant]\nkind = \"mqtt\"\nbroker = \"" + broker +
         "\"\ntopics = [\"plant/{area}/{type}\"]\nformat = \"json\"\n" + more;
}

std::string sink(const std::string& broker) {
  return "[doors.alarms]\nkind = \"mqtt\"\nbroker = \"" + broker +
         "\"\nsubscribe = \"Echo\"\ntopic = \"alarms/{type}\"\n";
}

class MqttDoor : public testing::Test {
 protected:
  const Folder folder{"mqtt"};

  void SetUp() override {
    ASSERT_EQ(access(GORGO_MOSQUITTO, X_OK), 0) << "mosquitto is missing; ./run deps installs it";
  }
  static std::string number(std::int64_t n) {
    return "{\"v\":" + std::to_string(std::int64_t{1} << 32 | n) + "}";
  }
  /// Returns once the broker keeps what comes for the door: it does as soon as the door has
  /// subscribed.
  static void have_broker_keep(ServerWithDoors& server, const Mosquitto& broker) {
    auto client = server.client();
    Device device(broker.address());
    const Patience patience("for the door to subscribe");
    for (bool ready = false; !ready && patience.lasts();) {
      ASSERT_TRUE(device.publish("plant/A1/Ready", "{}"));
      for (const Door& door : *client.doors()) ready = door.events > 0;
    }
  }
  /// Sends numbers to the broker, each until it has it; while nothing breaks there, it has each
  /// once.
  static auto device(const std::string& broker) {
    return [broker](const std::atomic<bool>& ended) {
      Device device(broker);
      std::int64_t last = 0;
      while (!ended && !testing::Test::HasFailure()) {
        EXPECT_TRUE(device.publish("plant/A1/A", number(++last)));
      }
      return last;
    };
  }
};

TEST_F(MqttDoor, ADoorRunsOnceItsSubscriptionIsConfirmed) {
  Mosquitto broker(folder);
  ServerWithDoors server(folder, source(broker.address()));
  begin_checks(server);
  auto client = server.client();
  wait_for_door(client, "plant", [](const Door& door) { return door.state == "running"; });
  Device device(broker.address());
  ASSERT_TRUE(device.publish("plant/A1/A", number(1)));
  wait_for_door(client, "plant", [](const Door& door) { return door.events == 1; });
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(MqttDoor, MessagesComeInAndLeave) {
  Mosquitto broker(folder);
  ServerWithDoors server(folder, source(broker.address()) + sink(broker.address()));
  begin_checks(server);
  auto client = server.client();
  ASSERT_TRUE(client.subscribe("A"));
  // Another client of the broker gets what leaves.
  doors::Settings settings;
  settings.broker = broker.address();
  mqtt::Session other(settings, {.client_id = "other"});
  const Patience patience("for what leaves through the door");
  while (!other.open() && patience.lasts()) std::this_thread::yield();
  std::string packet;
  mqtt::append_subscribe(packet, 1, {"alarms/#"}, 1);
  ASSERT_TRUE(other.send(packet));
  wait_for_door(client, "plant", [](const Door& door) { return door.state == "running"; });
  Device device(broker.address());
  // The door has subscribed at some time; its broker keeps nothing for it before.
  std::optional<Delivery> got;
  for (std::int64_t n = 1; !got && patience.lasts(); ++n) {
    ASSERT_TRUE(device.publish("plant/A1/A", number(n)));
    got = *client.next(20 * checker::kMillisecond);
  }
  ASSERT_TRUE(got);
  EXPECT_EQ(got->event.type, "A");
  EXPECT_EQ(std::get<std::string>(got->event.attributes.back().value), "A1");
  ASSERT_TRUE(device.publish("plant/A1/A", "nonsense"));
  wait_for_door(client, "plant", [](const Door& door) { return door.dead_letters == 1; });
  bool left = false;
  while (!left && patience.lasts()) {
    const auto message = other.next(std::chrono::seconds(10));
    ASSERT_TRUE(message) << message.error().to_string();
    if (!*message || (*message)->kind != mqtt::Packet::Kind::publish) continue;
    EXPECT_EQ((*message)->publish.topic, "alarms/Echo");
    EXPECT_THAT(std::string((*message)->publish.payload), HasSubstr("{\"id\":\""));
    left = true;
  }
  EXPECT_EQ(server.stop(), 0);
}

/// By the version of MQTT.
class MqttDoorOfVersion : public MqttDoor, public testing::WithParamInterface<const char*> {};

TEST_P(MqttDoorOfVersion, NothingIsLostOrDoubledWhenTheServerIsKilledOrTheNetworkIsCut) {
  Mosquitto broker(folder);
  Network network(broker.address());
  ServerWithDoors server(
      folder, source(network.address(), "protocol = \"" + std::string(GetParam()) + "\"\n"));
  begin_checks(server);
  have_broker_keep(server, broker);
  std::mt19937 random(static_cast<unsigned>(getpid()));
  int kills = 0;
  const auto last = check_numbers(server, deaths(), device(broker.address()), [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 400));
    if (random() % 2 == 0) return network.cut();
    ++kills;
    server.kill_and_start();
  });
  EXPECT_EQ(server.stop(), 0);
  std::printf("%d kills, %d cuts, %lld numbers\n", kills, deaths() - kills,
              static_cast<long long>(last));
}

INSTANTIATE_TEST_SUITE_P(Versions, MqttDoorOfVersion, testing::Values("5", "3.1.1"),
                         [](const auto& version) {
                           return version.param[0] == '5' ? "Five" : "ThreeOneOne";
                         });

TEST_F(MqttDoor, ABrokerThatGoesAndComesBackLosesNothing) {
  Mosquitto broker(folder);
  ServerWithDoors server(folder, source(broker.address()));
  begin_checks(server);
  have_broker_keep(server, broker);
  std::int64_t last = 0;
  for (int round = 0; round < 2; ++round) {
    Device device(broker.address());
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(device.publish("plant/A1/A", number(++last)));
    broker.stop();
    broker.start();
  }
  const std::atomic<bool> ended = true;
  checker::Progress progress;
  checker::Received received(progress);
  received.run([&] { return server.address(); }, ended,
               [&](const checker::Received& so_far) {
                 return so_far.events() >= static_cast<std::size_t>(last);
               });
  EXPECT_EQ(received.events(), static_cast<std::size_t>(last));
  EXPECT_EQ(server.stop(), 0);
}

/// What became of numbers that were sent once each, to a broker that is killed.
struct Sent {
  std::set<std::int64_t> kept;      ///< the broker has written them down
  std::set<std::int64_t> doubtful;  ///< it may have forgotten them
};

/// Sends each number once. A broker that writes after each turn of its loop has a message on the
/// disk when it answers the next one, which is sent behind the answer: so when it is killed, it may
/// have forgotten the last message that it has acknowledged, and the one behind that.
Sent send_once(const Mosquitto& broker, const std::atomic<bool>& ended) {
  Sent sent;
  std::optional<Device> device(broker.address());
  std::int64_t before = 0;
  for (std::int64_t n = 1; !ended && !testing::Test::HasFailure(); ++n) {
    if (device->publish("plant/A1/A", R"({"v":)" + std::to_string(n) + "}")) {
      sent.kept.insert(n);
    } else {
      sent.doubtful.insert({before, n});
      device.emplace(broker.address());
    }
    before = n;
  }
  for (const std::int64_t n : sent.doubtful) sent.kept.erase(n);
  return sent;
}

/// The numbers that come until this one, as often as they come.
std::map<std::int64_t, int> numbers_until(ServerWithDoors& server, std::int64_t last) {
  std::map<std::int64_t, int> came;
  auto client = server.client();
  EXPECT_TRUE(client.subscribe("Echo", {.durable = "checker"}));
  const Patience patience("for the number " + std::to_string(last));
  while (!came.contains(last) && patience.lasts()) {
    const auto delivery = client.next(100 * checker::kMillisecond);
    if (!delivery || !*delivery) continue;
    ++came[std::get<std::int64_t>((*delivery)->event.attributes[0].value)];
  }
  return came;
}

TEST_P(MqttDoorOfVersion, ABrokerThatIsKilledLosesNothingThatItHasWritten) {
  Mosquitto broker(folder, "autosave_on_changes true\nautosave_interval 1\n");
  Network network(broker.address());
  ServerWithDoors server(
      folder, source(network.address(), "protocol = \"" + std::string(GetParam()) + "\"\n"));
  begin_checks(server);
  have_broker_keep(server, broker);
  std::atomic<bool> ended = false;
  Sent sent;
  std::thread device([&] { sent = send_once(broker, ended); });
  std::mt19937 random(static_cast<unsigned>(getpid()));
  std::array<int, 3> dead{};
  for (int i = 0; i < deaths(); ++i) {
    {
      auto client = server.client();
      wait_for_door(client, "plant", [](const Door& door) { return door.state == "running"; });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 400));
    const auto victim = random() % 4;
    ++dead[std::min<std::size_t>(victim, 2)];
    if (victim == 0) {
      network.cut();
    } else if (victim == 1) {
      server.kill_and_start();
    } else {
      broker.stop(SIGKILL);
      broker.start();
    }
  }
  ended = true;
  device.join();
  ASSERT_FALSE(sent.kept.empty());
  const auto came = numbers_until(server, *sent.kept.rbegin());
  for (const std::int64_t n : sent.kept) EXPECT_TRUE(came.contains(n)) << n << " was lost";
  EXPECT_EQ(server.stop(), 0);
  // What the broker sent before it was killed, and had not written as sent, it sends unmarked.
  const auto twice = std::ranges::count_if(came, [](const auto& one) { return one.second > 1; });
  std::printf(
      "%d cuts, %d kills of Gorgo, %d of the broker, %zu numbers, %zu doubtful, %td twice\n",
      dead[0], dead[1], dead[2], sent.kept.size(), sent.doubtful.size(), twice);
}

TEST_F(MqttDoor, ABrokerIsKnownByItsCertificate) {
  make_certificates((folder / "").string());
  const auto path = [&](const std::string& name) { return (folder / name).string(); };
  const auto broker_with = [&](const std::string& name) {
    return Mosquitto(folder, "certfile " + path(name) + ".pem\nkeyfile " + path(name) + ".key\n");
  };
  const auto trusting = [&](const Mosquitto& broker, const std::string& name) {
    return source(broker.address(), "ca = \"" + path(name) + ".pem\"\n");
  };
  {
    const Mosquitto broker = broker_with("right");
    ServerWithDoors server(folder, trusting(broker, "right"));
    auto client = server.client();
    wait_for_door(client, "plant", [](const Door& door) { return door.state == "running"; });
    EXPECT_EQ(server.stop(), 0);
    expect_no_trust(folder, trusting(broker, "other"), "plant");
  }
  const Mosquitto broker = broker_with("stranger");
  expect_no_trust(folder, trusting(broker, "stranger"), "plant");
}

}  // namespace
}  // namespace gorgo
