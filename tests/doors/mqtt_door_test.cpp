#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <list>
#include <random>

#include "door_support.hpp"
#include "doors/mqtt/mqtt_sink.hpp"

// The broker is Mosquitto.
namespace gorgo {
namespace {

using testing::HasSubstr;
namespace mqtt = doors::mqtt;

int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  close(socket);
  return ntohs(address.sin_port);
}

/// A broker that keeps what it has when it is stopped.
class Mosquitto {
 public:
  explicit Mosquitto(const Folder& folder) : folder_(folder), port_(free_port()) {
    fs::create_directories(folder / "broker");
    fs::permissions(folder / "broker", fs::perms::all);
    folder.write("mosquitto.conf", "listener " + std::to_string(port_) +
                                       " 127.0.0.1\nallow_anonymous true\npersistence true\n"
                                       "persistence_location " +
                                       (folder / "broker").string() +
                                       "/\nuser root\nmax_queued_messages 0\nlog_type error\n");
    start();
  }
  ~Mosquitto() { stop(); }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  void stop() {
    kill(pid_, SIGTERM);
    int status = 0;
    waitpid(pid_, &status, 0);
  }
  void start() {
    const std::string config = (folder_ / "mosquitto.conf").string();
    pid_ = fork();
    if (pid_ == 0) {
      execl(GORGO_MOSQUITTO, "mosquitto", "-c", config.c_str(), nullptr);
      _exit(127);
    }
  }

 private:
  const Folder& folder_;
  const int port_;
  pid_t pid_ = -1;
};

/// The network between Gorgo and a broker, which can be cut.
class Network {
 public:
  explicit Network(const std::string& to) : to_(to) {
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Network() {
    io_.stop();
    thread_.join();
  }

  std::string address() const {
    return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  /// Breaks all connections.
  void cut() {
    boost::asio::post(io_, [this] {
      for (const auto& one : connections_) one->close();
    });
  }

 private:
  using Tcp = boost::asio::ip::tcp;
  struct Connection {
    explicit Connection(boost::asio::io_context& io) : client(io), broker(io) {}
    Tcp::socket client, broker;
    std::array<char, 4096> from_client{}, from_broker{};

    void close() {
      boost::system::error_code ignored;
      client.close(ignored);
      broker.close(ignored);
    }
  };

  const std::string to_;
  boost::asio::io_context io_;
  Tcp::acceptor acceptor_{io_, {boost::asio::ip::address_v4::loopback(), 0}};
  std::list<std::shared_ptr<Connection>> connections_;
  std::thread thread_;

  void accept() {
    auto one = std::make_shared<Connection>(io_);
    acceptor_.async_accept(one->client, [this, one](auto failure) {
      if (failure) return;
      boost::system::error_code refused;
      Tcp::resolver resolver(io_);
      const auto colon = to_.rfind(':');
      boost::asio::connect(one->broker,
                           resolver.resolve(to_.substr(0, colon), to_.substr(colon + 1)), refused);
      if (refused) one->close();
      connections_.push_back(one);
      pass(one, one->client, one->broker, one->from_client);
      pass(one, one->broker, one->client, one->from_broker);
      accept();
    });
  }
  void pass(std::shared_ptr<Connection> one, Tcp::socket& from, Tcp::socket& to,
            std::array<char, 4096>& bytes) {
    from.async_read_some(boost::asio::buffer(bytes), [this, one, &from, &to, &bytes](
                                                         auto failure, std::size_t size) {
      boost::system::error_code broken;
      if (!failure) {
        boost::asio::write(to, boost::asio::buffer(bytes.data(), size), broken);
      }
      if (failure || broken) return one->close();
      pass(one, from, to, bytes);
    });
  }
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

std::string source(const std::string& broker) {
  return "[doors.plant]\nkind = \"mqtt\"\nbroker = \"" + broker +
         "\"\ntopics = [\"plant/{area}/{type}\"]\nformat = \"json\"\n";
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

TEST_F(MqttDoor, NothingIsLostOrDoubledWhenTheServerIsKilledOrTheNetworkIsCut) {
  const char* given = std::getenv("GORGO_KILLS");
  const int deaths = given == nullptr ? 5 : std::atoi(given);
  Mosquitto broker(folder);
  Network network(broker.address());
  ServerWithDoors server(folder, source(network.address()));
  begin_checks(server);
  have_broker_keep(server, broker);
  std::mt19937 random(static_cast<unsigned>(getpid()));
  int kills = 0;
  const auto last = check_numbers(server, deaths, device(broker.address()), [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 400));
    if (random() % 2 == 0) return network.cut();
    ++kills;
    server.kill_and_start();
  });
  EXPECT_EQ(server.stop(), 0);
  std::printf("%d kills, %d cuts, %lld numbers\n", kills, deaths - kills,
              static_cast<long long>(last));
}

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

}  // namespace
}  // namespace gorgo
