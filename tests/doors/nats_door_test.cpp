#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <cstdlib>
#include <optional>
#include <random>
#include <thread>

#include "door_support.hpp"
#include "doors/nats/connection.hpp"
#include "peer_support.hpp"

// The broker is nats-server.
namespace gorgo::nats_door {
namespace {

using doors::nats::Owned;
using testing::HasSubstr;

/// A server that keeps its streams when it is killed.
class NatsServer {
 public:
  explicit NatsServer(const Folder& folder, Command more = {})
      : folder_(folder), more_(std::move(more)), port_(free_port()) {
    start();
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  void stop(int signal = SIGKILL) { process_->end(signal); }
  void start() {
    Command command{GORGO_NATS_SERVER,
                    "-a",
                    "127.0.0.1",
                    "-p",
                    std::to_string(port_),
                    "-js",
                    "-sd",
                    (folder_ / "nats").string(),
                    "-l",
                    (folder_ / "nats.log").string()};
    command.insert(command.end(), more_.begin(), more_.end());
    process_.emplace(std::move(command));
  }

 private:
  const Folder& folder_;
  const Command more_;
  const int port_;
  std::optional<Peer> process_;
};

/// A program that speaks to the server as any does.
class Other {
 public:
  explicit Other(const std::string& server) : url_("nats://" + server) { connect(); }

  /// Makes the stream GORGO of these subjects. `remembers`: for how many nanoseconds it knows the
  /// ids of messages; 0: as long as servers do by themselves.
  void make_stream(const char* subject, std::int64_t remembers = 0) {
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Duplicates = remembers;
    config.Name = "GORGO";
    config.Subjects = &subject;
    config.SubjectsLen = 1;
    const Patience patience("for JetStream");
    while (js_AddStream(nullptr, stream_.get(), &config, nullptr, nullptr) != NATS_OK) {
      if (!patience.lasts()) return;
      connect();
    }
  }
  void drop_stream() {
    EXPECT_EQ(js_DeleteStream(stream_.get(), "GORGO", nullptr, nullptr), NATS_OK);
  }
  void purge_stream() {
    EXPECT_EQ(js_PurgeStream(stream_.get(), "GORGO", nullptr, nullptr), NATS_OK);
  }
  std::uint64_t messages() {
    jsStreamInfo* found = nullptr;
    EXPECT_EQ(js_GetStreamInfo(&found, stream_.get(), "GORGO", nullptr, nullptr), NATS_OK);
    const Owned<jsStreamInfo> info(found);
    return found == nullptr ? 0 : found->State.Msgs;
  }
  /// Publishes to the stream until it has the message, which it has once.
  void publish(const std::string& subject, const std::string& payload) {
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MsgId = payload.c_str();
    options.MaxWait = 1000;
    const Patience patience("for the stream to take " + payload);
    while (js_Publish(nullptr, stream_.get(), subject.c_str(), payload.data(),
                      static_cast<int>(payload.size()), &options, nullptr) != NATS_OK) {
      if (!patience.lasts()) return;
      if (natsConnection_IsClosed(connection_.get())) connect();
    }
  }
  void publish_plainly(const std::string& subject, const std::string& payload) {
    EXPECT_EQ(natsConnection_PublishString(connection_.get(), subject.c_str(), payload.c_str()),
              NATS_OK);
    EXPECT_EQ(natsConnection_FlushTimeout(connection_.get(), 10'000), NATS_OK);
  }
  void subscribe(const std::string& subject) {
    natsSubscription* made = nullptr;
    EXPECT_EQ(natsConnection_SubscribeSync(&made, connection_.get(), subject.c_str()), NATS_OK);
    EXPECT_EQ(natsConnection_FlushTimeout(connection_.get(), 10'000), NATS_OK);
    subscription_.reset(made);
  }
  /// The message that comes next.
  Owned<natsMsg> next() {
    natsMsg* came = nullptr;
    EXPECT_EQ(natsSubscription_NextMsg(&came, subscription_.get(), 60'000), NATS_OK);
    return Owned<natsMsg>(came);
  }
  /// All payloads of the stream.
  std::vector<std::string> payloads() {
    std::vector<std::string> all;
    const std::uint64_t count = messages();
    for (std::uint64_t sequence = 1; all.size() < count; ++sequence) {
      natsMsg* found = nullptr;
      if (js_GetMsg(&found, stream_.get(), "GORGO", sequence, nullptr, nullptr) != NATS_OK) break;
      const Owned<natsMsg> message(found);
      const char* place = nullptr;
      EXPECT_EQ(natsMsgHeader_Get(found, "Gorgo-Place", &place), NATS_OK);
      all.emplace_back(natsMsg_GetData(found),
                       static_cast<std::size_t>(natsMsg_GetDataLength(found)));
      EXPECT_THAT(all.back(),
                  HasSubstr("{\"id\":\"" + std::string(place == nullptr ? "?" : place) + "\""));
    }
    return all;
  }

 private:
  const std::string url_;
  Owned<natsConnection> connection_;
  Owned<jsCtx> stream_;
  Owned<natsSubscription> subscription_;

  void connect() {
    subscription_.reset();
    stream_.reset();
    natsConnection* made = nullptr;
    const Patience patience("for the server " + url_);
    while (natsConnection_ConnectTo(&made, url_.c_str()) != NATS_OK) {
      if (!patience.lasts()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    connection_.reset(made);
    jsCtx* stream = nullptr;
    EXPECT_EQ(natsConnection_JetStream(&stream, made, nullptr), NATS_OK);
    stream_.reset(stream);
  }
};

std::string source(const std::string& server, const std::string& more = "stream = \"GORGO\"\n") {
  return "[doors.plant]\nkind = \"nats\"\nbroker = \"" + server +
         "\"\nsubject = \"plant.{area}.{type}\"\nformat = \"json\"\n" + more;
}

std::string sink(const std::string& server, const std::string& more = "stream = \"GORGO\"\n") {
  return "[doors.alarms]\nkind = \"nats\"\nbroker = \"" + server +
         "\"\nsubscribe = \"Echo\"\nsubject = \"alarms.{type}\"\n" + more;
}

constexpr const char* kFenced = "stream = \"GORGO\"\nfenced = true\n";

class NatsDoor : public testing::Test {
 protected:
  const Folder folder{"nats"};
  std::mt19937 random{static_cast<unsigned>(getpid())};

  void SetUp() override {
    ASSERT_EQ(access(GORGO_NATS_SERVER, X_OK), 0)
        << "nats-server is missing; ./run deps installs it";
  }
  static std::string number(std::int64_t n) {
    return "{\"v\":" + std::to_string(std::int64_t{1} << 32 | n) + "}";
  }
};

TEST_F(NatsDoor, MessagesOfSubjectsComeInAndLeave) {
  NatsServer broker(folder);
  Other other(broker.address());
  ServerWithDoors server(folder, source(broker.address(), "") + sink(broker.address(), ""));
  begin_checks(server);
  auto client = server.client();
  other.subscribe("alarms.>");
  wait_for_door(client, "plant", [](const Door& door) { return door.state == "running"; });
  other.publish_plainly("plant.A1.A", number(1));
  const auto message = other.next();
  ASSERT_TRUE(message);
  EXPECT_STREQ(natsMsg_GetSubject(message.get()), "alarms.Echo");
  EXPECT_THAT(natsMsg_GetData(message.get()), HasSubstr("{\"id\":\""));
  other.publish_plainly("plant.A1.A", "nonsense");
  wait_for_door(client, "plant", [](const Door& door) { return door.dead_letters == 1; });
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(NatsDoor, NothingIsLostOrDoubledWhoeverIsKilled) {
  NatsServer broker(folder);
  Network network(broker.address());
  {
    Other other(broker.address());
    other.make_stream("plant.>");
  }
  ServerWithDoors server(folder, source(network.address()));
  begin_checks(server);
  std::array<int, 3> dead{};
  const auto publish = [&](const std::atomic<bool>& ended) {
    Other other(broker.address());
    std::int64_t last = 0;
    while (!ended && !HasFailure()) other.publish("plant.A1.A", number(++last));
    return last;
  };
  const auto last = check_numbers(server, deaths(), publish, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 400));
    const auto victim = random() % 3;
    ++dead[victim];
    if (victim == 0) return network.cut();
    if (victim == 1) return server.kill_and_start();
    broker.stop();
    broker.start();
  });
  EXPECT_EQ(server.stop(), 0);
  std::printf("%d cuts, %d kills of Gorgo, %d of the broker, %lld numbers\n", dead[0], dead[1],
              dead[2], static_cast<long long>(last));
}

/// By whether the stream is fenced, and so needs no memory for ids.
class NatsSinkDoor : public NatsDoor, public testing::WithParamInterface<bool> {};

TEST_P(NatsSinkDoor, AStreamHasEachEventOnceWhoeverIsKilled) {
  NatsServer broker(folder);
  Network network(broker.address());
  const bool fenced = GetParam();
  {
    constexpr std::int64_t kShortest = 100'000'000;
    Other other(broker.address());
    other.make_stream("alarms.>", fenced ? kShortest : 0);
  }
  ServerWithDoors server(folder,
                         sink(network.address(), fenced ? kFenced : "stream = \"GORGO\"\n"));
  begin_checks(server);
  std::optional<Other> reader;
  const auto die = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 400));
    const auto victim = random() % 3;
    if (victim == 0) return network.cut();
    if (victim == 1) return server.kill_and_start();
    broker.stop();
    broker.start();
  };
  const auto count = [&] {
    if (!reader) reader.emplace(broker.address());
    return static_cast<std::int64_t>(reader->messages());
  };
  const auto last = check_numbers_leave(server, deaths(), die, count, [&] {
    std::vector<std::int64_t> numbers;
    for (const std::string& payload : reader->payloads()) numbers.push_back(number_in(payload));
    return numbers;
  });
  EXPECT_EQ(server.stop(), 0);
  std::printf("%lld events\n", static_cast<long long>(last));
}

INSTANTIATE_TEST_SUITE_P(Fences, NatsSinkDoor, testing::Values(false, true),
                         [](const auto& fenced) { return fenced.param ? "Fenced" : "NotFenced"; });

/// One of two servers that write to the same fenced stream.
class Twin {
 public:
  Twin(const std::string& name, const NatsServer& broker)
      : folder_(name),
        server_(folder_, sink(broker.address(), kFenced)),
        client_(server_.client()) {
    const auto deployed = client_.deploy("echo.tesla", kEcho);
    EXPECT_TRUE(deployed && !deployed->failed());
  }
  void publish(std::int64_t first, std::int64_t last) {
    for (std::int64_t n = first; n <= last; ++n) {
      EXPECT_TRUE(client_.publish(std::vector<Event>{{"A", n * 1'000'000'000, {{"v", n}}}}));
    }
  }
  template <class Done>
  void wait_for(Done done) {
    wait_for_door(client_, "alarms", done);
  }

 private:
  const Folder folder_;
  ServerWithDoors server_;
  Client client_;
};

TEST_F(NatsDoor, AnotherWriterOfAFencedStreamIsFoundOut) {
  NatsServer broker(folder);
  Other other(broker.address());
  other.make_stream("alarms.>");
  Twin first("twin_first", broker), second("twin_second", broker);
  const auto has = [](std::uint64_t events) {
    return [events](const Door& door) { return door.events == events; };
  };
  first.publish(1, 3);
  first.wait_for(has(3));
  // What the other has written is not written again, and what it has not is.
  second.publish(1, 4);
  second.wait_for(has(4));
  EXPECT_EQ(other.messages(), 4u);
  // The first takes itself for the only one, until its next event.
  first.publish(4, 4);
  first.wait_for(has(4));
  first.wait_for([](const Door& door) { return door.failures > 0; });
  EXPECT_EQ(other.messages(), 4u);
  // A server with another history writes nothing.
  first.publish(5, 5);
  first.wait_for(has(5));
  second.publish(6, 6);
  second.wait_for([](const Door& door) {
    return door.problem.find("another event in the place") != std::string::npos;
  });
  EXPECT_EQ(other.messages(), 5u);
  // Nor does a door behind what comes from none.
  other.publish("alarms.Echo", "nonsense");
  first.publish(6, 6);
  first.wait_for([](const Door& door) {
    return door.problem.find("comes from no door") != std::string::npos;
  });
  EXPECT_EQ(other.messages(), 6u);
}

TEST_F(NatsDoor, AStreamThatWasMadeAnewOrHasDroppedMessagesIsReadOnAndTold) {
  NatsServer broker(folder);
  Other other(broker.address());
  other.make_stream("plant.>");
  ServerWithDoors server(folder, source(broker.address()));
  begin_checks(server);
  auto client = server.client();
  ASSERT_TRUE(client.subscribe("gorgo.DeadLetter"));
  other.publish("plant.A1.A", number(1));
  wait_for_door(client, "plant", [](const Door& door) { return door.events == 1; });
  other.drop_stream();
  other.make_stream("plant.>");
  other.publish("plant.A1.A", number(2));
  wait_for_door(client, "plant", [](const Door& door) { return door.events == 2; });
  server.signal(SIGKILL);
  server.process().wait();
  other.publish("plant.A1.A", number(3));
  other.purge_stream();
  other.publish("plant.A1.A", number(4));
  server.start_again();
  auto later = server.client();
  const auto door =
      wait_for_door(later, "plant", [](const Door& seen) { return seen.events == 1; });
  EXPECT_EQ(door.dead_letters, 1u);
  EXPECT_EQ(door.position, "sequence 3");
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(NatsDoor, ADoorThatBeginsAtTheEndMissesNothingBehindIt) {
  NatsServer broker(folder);
  Other other(broker.address());
  other.make_stream("plant.>");
  other.publish("plant.A1.A", number(100));
  ServerWithDoors server(folder, source(broker.address(), "stream = \"GORGO\"\nfrom = \"end\"\n"));
  begin_checks(server);
  auto client = server.client();
  wait_for_door(client, "plant", [](const Door& door) { return door.position == "sequence 1"; });
  server.signal(SIGKILL);
  server.process().wait();
  other.publish("plant.A1.A", number(1));
  server.start_again();
  auto later = server.client();
  const auto door =
      wait_for_door(later, "plant", [](const Door& seen) { return seen.events == 1; });
  EXPECT_EQ(door.position, "sequence 2");
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(NatsDoor, AServerIsKnownByItsCertificate) {
  make_certificates((folder / "").string());
  const auto path = [&](const std::string& name) { return (folder / name).string(); };
  const auto broker_with = [&](const std::string& name) {
    return NatsServer(folder,
                      {"--tls", "--tlscert", path(name) + ".pem", "--tlskey", path(name) + ".key"});
  };
  const auto trusting = [&](const NatsServer& broker, const std::string& name) {
    return source(broker.address(), "ca = \"" + path(name) + ".pem\"\n");
  };
  {
    const NatsServer broker = broker_with("right");
    ServerWithDoors server(folder, trusting(broker, "right"));
    auto client = server.client();
    wait_for_door(client, "plant", [](const Door& door) { return door.state == "running"; });
    EXPECT_EQ(server.stop(), 0);
    expect_no_trust(folder, trusting(broker, "other"), "plant");
  }
  const NatsServer broker = broker_with("stranger");
  expect_no_trust(folder, trusting(broker, "stranger"), "plant");
}

TEST(NatsServers, OneThatFallsSilentWhileItAnswersIsAFailure) {
  namespace asio = boost::asio;
  using asio::ip::tcp;
  const Folder folder("silent_nats");
  asio::io_context io;
  tcp::acceptor acceptor(io, {asio::ip::make_address("127.0.0.1"), 0});
  tcp::socket silent(io);
  std::thread answers([&] {
    acceptor.accept(silent);
    asio::write(silent, asio::buffer(std::string(
                            "INFO {\"server_id\":\"x\",\"version\":\"2.10.0\",\"proto\":1}\r\n")));
  });
  ServerWithDoors server(folder, "[doors.plant]\nkind = \"nats\"\nbroker = \"127.0.0.1:" +
                                     std::to_string(acceptor.local_endpoint().port()) +
                                     "\"\nsubject = \"a.{type}\"\nformat = \"json\"\n");
  auto client = server.client();
  const auto door =
      wait_for_door(client, "plant", [](const Door& seen) { return seen.state == "failing"; });
  EXPECT_THAT(door.problem, HasSubstr("does not answer"));
  answers.join();
  EXPECT_EQ(server.stop(), 0);
}

}  // namespace
}  // namespace gorgo::nats_door
