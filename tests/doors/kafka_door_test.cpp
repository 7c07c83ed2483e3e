#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <map>
#include <random>
#include <set>

#include "door_support.hpp"
#include "doors/kafka/client.hpp"
#include "peer_support.hpp"
#include "walks.hpp"

// The brokers are the cluster that librdkafka has for tests. It speaks the protocol over TCP, keeps
// what it has in memory, and answers with errors when it is asked to.
namespace gorgo::kafka_door {
namespace {

namespace asio = boost::asio;
using doors::kafka::Owned;
using testing::HasSubstr;

/// A client of Kafka as any.
Owned<rd_kafka_t> make_client(rd_kafka_type_t type,
                              const std::map<std::string, std::string>& properties) {
  rd_kafka_conf_t* const config = rd_kafka_conf_new();
  char why[512] = "";
  for (const auto& [name, value] : properties) {
    EXPECT_EQ(rd_kafka_conf_set(config, name.c_str(), value.c_str(), why, sizeof why),
              RD_KAFKA_CONF_OK)
        << why;
  }
  rd_kafka_conf_set_log_cb(config, [](const rd_kafka_t*, int, const char*, const char*) {});
  Owned<rd_kafka_t> client(rd_kafka_new(type, config, why, sizeof why));
  EXPECT_NE(client, nullptr) << why;
  return client;
}

class Cluster {
 public:
  Cluster()
      : handle_(make_client(RD_KAFKA_PRODUCER, {})),
        cluster_(rd_kafka_mock_cluster_new(handle_.get(), 1)) {
    for (const char* topic : {"readings", "echoes", "temperatures", "fires"}) create(topic);
  }
  ~Cluster() { rd_kafka_mock_cluster_destroy(cluster_); }

  std::string address() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }
  void go_down() { rd_kafka_mock_broker_set_down(cluster_, 1); }
  void come_up() { rd_kafka_mock_broker_set_up(cluster_, 1); }
  /// The next requests of the kind are answered with these errors.
  void refuse(std::int16_t request, std::initializer_list<rd_kafka_resp_err_t> errors) {
    const std::vector<rd_kafka_resp_err_t> all(errors);
    rd_kafka_mock_push_request_errors_array(cluster_, request, all.size(), all.data());
  }
  static constexpr std::int16_t kProduce = 0, kFetch = 1, kListOffsets = 2;

 private:
  Owned<rd_kafka_t> handle_;
  rd_kafka_mock_cluster_t* const cluster_;

  void create(const char* topic) { rd_kafka_mock_topic_create(cluster_, topic, 1, 1); }
};

/// Speaks TLS for the cluster, which has none, and gives its own port for the broker's, as an
/// advertised listener does.
class TlsFront {
 public:
  TlsFront(const std::string& cluster, const std::string& certificate)
      : port_(static_cast<std::uint16_t>(std::stoi(cluster.substr(cluster.rfind(':') + 1)))) {
    tls_.use_certificate_chain_file(certificate + ".pem");
    tls_.use_private_key_file(certificate + ".key", asio::ssl::context::pem);
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~TlsFront() {
    io_.stop();
    thread_.join();
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port()); }

 private:
  using Tcp = asio::ip::tcp;
  struct Connection {
    Connection(asio::io_context& io, asio::ssl::context& tls) : client(io, tls), broker(io) {}
    asio::ssl::stream<Tcp::socket> client;
    Tcp::socket broker;
    std::array<char, 65536> from_client{}, from_broker{};
  };
  using ConnectionPtr = std::shared_ptr<Connection>;

  const std::uint16_t port_;  // of the broker
  asio::io_context io_;
  asio::ssl::context tls_{asio::ssl::context::tls_server};
  Tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
  std::thread thread_;

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  void accept() {
    auto one = std::make_shared<Connection>(io_, tls_);
    acceptor_.async_accept(one->client.lowest_layer(), [this, one](auto failure) {
      if (failure) return;
      accept();
      one->client.async_handshake(asio::ssl::stream_base::server, [this, one](auto refused) {
        boost::system::error_code gone;
        if (refused || one->broker.connect({asio::ip::address_v4::loopback(), port_}, gone)) return;
        pass(one, one->client, one->broker, one->from_client);
        pass(one, one->broker, one->client, one->from_broker);
      });
    });
  }
  template <class From, class To>
  void pass(ConnectionPtr one, From& from, To& to, std::array<char, 65536>& bytes) {
    from.async_read_some(asio::buffer(bytes), [&, this, one](auto failure, std::size_t size) {
      boost::system::error_code broken;
      if (!failure) asio::write(to, asio::buffer(advertised({bytes.data(), size})), broken);
      if (!failure && !broken) return pass(one, from, to, bytes);
      one->broker.close(broken);
      one->client.lowest_layer().close(broken);
    });
  }
  /// An address is a host and four bytes of a port, the highest first.
  std::string advertised(std::string bytes) const {
    const auto address = [](std::uint16_t port) {
      return std::string("127.0.0.1") + '\0' + '\0' + static_cast<char>(port >> 8) +
             static_cast<char>(port & 0xff);
    };
    const std::string before = address(port_), after = address(port());
    for (auto at = bytes.find(before); at != bytes.npos; at = bytes.find(before, at + 1)) {
      bytes.replace(at, before.size(), after);
    }
    return bytes;
  }
};

#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-statement-expression"  // macros of librdkafka are
#endif

/// Produces to the topic `readings`, each message once.
class Producer {
 public:
  explicit Producer(const Cluster& cluster)
      : client_(make_client(RD_KAFKA_PRODUCER, {{"bootstrap.servers", cluster.address()},
                                                {"enable.idempotence", "true"},
                                                {"linger.ms", "0"}})) {}
  /// Returns when the cluster has it.
  void produce(const std::string& payload) {
    EXPECT_EQ(rd_kafka_producev(client_.get(), RD_KAFKA_V_TOPIC("readings"),
                                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                RD_KAFKA_V_VALUE(const_cast<char*>(payload.data()), payload.size()),
                                RD_KAFKA_V_END),
              RD_KAFKA_RESP_ERR_NO_ERROR);
    EXPECT_EQ(rd_kafka_flush(client_.get(), 60'000), RD_KAFKA_RESP_ERR_NO_ERROR) << payload;
  }

 private:
  Owned<rd_kafka_t> client_;
};

/// Reads the topic `echoes` and leaves out repetitions, as receivers do by the header. The mock
/// cluster keeps the last 5 MiB of a topic, so what is not read for long is gone.
class Reader {
 public:
  explicit Reader(const Cluster& cluster)
      : client_(make_client(RD_KAFKA_CONSUMER,
                            {{"bootstrap.servers", cluster.address()}, {"group.id", "reader"}})) {
    const Owned<rd_kafka_topic_partition_list_t> list(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(list.get(), "echoes", 0)->offset = 0;
    EXPECT_EQ(rd_kafka_assign(client_.get(), list.get()), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  ~Reader() { rd_kafka_consumer_close(client_.get()); }

  /// How many there are by now.
  std::int64_t count() {
    while (const Owned<rd_kafka_message_t> message{rd_kafka_consumer_poll(client_.get(), 100)}) {
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) take(*message);
    }
    return static_cast<std::int64_t>(numbers_.size());
  }
  void count_for(std::chrono::milliseconds time) {
    for (const auto end = Clock::now() + time; Clock::now() < end;) count();
  }
  const std::vector<std::int64_t>& numbers() const { return numbers_; }
  int again() const { return again_; }

 private:
  using Clock = std::chrono::steady_clock;

  Owned<rd_kafka_t> client_;
  std::set<std::string> places_;
  std::vector<std::int64_t> numbers_;
  int again_ = 0;

  void take(const rd_kafka_message_t& message) {
    rd_kafka_headers_t* headers = nullptr;
    const void* place = nullptr;
    std::size_t size = 0;
    ASSERT_EQ(rd_kafka_message_headers(&message, &headers), RD_KAFKA_RESP_ERR_NO_ERROR);
    ASSERT_EQ(rd_kafka_header_get_last(headers, "gorgo-place", &place, &size),
              RD_KAFKA_RESP_ERR_NO_ERROR);
    if (!places_.emplace(static_cast<const char*>(place), size).second) {
      ++again_;
      return;
    }
    numbers_.push_back(number_in({static_cast<const char*>(message.payload), message.len}));
  }
};

class KafkaDoor : public testing::Test {
 protected:
  const Folder folder{"kafka"};
  Cluster cluster;
  std::mt19937 random{static_cast<unsigned>(getpid())};

  std::string source(const std::string& more = "") const {
    return source_of(cluster.address(), more);
  }
  static std::string source_of(const std::string& broker, const std::string& more) {
    return "[doors.plant]\nkind = \"kafka\"\nbroker = \"" + broker +
           "\"\ntopics = [\"readings\"]\nformat = \"json\"\ntype = \"A\"\n" + more;
  }
  /// One request at a time: the library's cluster does not refuse a request whose predecessor it
  /// has refused, as brokers do, and the library then takes the first one for delivered.
  std::string sink() const {
    return "[doors.out]\nkind = \"kafka\"\nsubscribe = \"Echo\"\nbroker = \"" + cluster.address() +
           "\"\ntopic = \"echoes\"\nkey = \"type\"\nproperties = { \"max.in.flight\" = \"1\" }\n";
  }
  static std::string number(std::int64_t n) {
    return "{\"v\":" + std::to_string(std::int64_t{1} << 32 | n) + "}";
  }
};

TEST_F(KafkaDoor, NothingIsLostOrDoubledWhenGorgoIsKilledOrTheBrokerFails) {
  ServerWithDoors server(folder, source());
  begin_checks(server);
  const auto publish = [&](const std::atomic<bool>& ended) {
    Producer producer(cluster);
    std::int64_t last = 0;
    while (!ended && !HasFailure()) producer.produce(number(++last));
    return last;
  };
  std::array<int, 3> dead{};
  const auto last = check_numbers(server, deaths(), publish, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 400));
    const auto victim = random() % 3;
    ++dead[victim];
    if (victim == 0) return server.kill_and_start();
    if (victim == 1) {
      return cluster.refuse(Cluster::kFetch, {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                                              RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
                                              RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART});
    }
    cluster.go_down();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cluster.come_up();
  });
  EXPECT_EQ(server.stop(), 0);
  std::printf("%d kills, %d times errors, %d times down, %lld numbers\n", dead[0], dead[1], dead[2],
              static_cast<long long>(last));
}

TEST_F(KafkaDoor, EachEventLeavesAndRepetitionsHaveTheSamePlace) {
  ServerWithDoors server(folder, sink());
  begin_checks(server);
  Reader reader(cluster);
  const auto die = [&] {
    reader.count_for(std::chrono::milliseconds(20 + random() % 400));
    const auto victim = random() % 3;
    if (victim == 0) return server.kill_and_start();
    if (victim == 1) {
      return cluster.refuse(Cluster::kProduce, {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                                                RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT});
    }
    cluster.go_down();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cluster.come_up();
  };
  const auto last = check_numbers_leave(
      server, deaths(), die, [&] { return reader.count(); }, [&] { return reader.numbers(); },
      [&](std::int64_t) { return reader.count(); });
  EXPECT_EQ(server.stop(), 0);
  std::printf("%lld events, %d of them came again\n", static_cast<long long>(last), reader.again());
}

TEST_F(KafkaDoor, TheWalkOfItsPageWorks) {
  setenv("BROKERS", cluster.address().c_str(), 1);
  int count = 0;
  for (const std::string& script : walks()) {
    if (!needs_kafka(script)) continue;
    ++count;
    run_walk(folder, script);
  }
  EXPECT_EQ(count, 1);
}

TEST_F(KafkaDoor, WhatCannotBeReadIsTold) {
  ServerWithDoors server(folder, source("from = \"end\"\n"));
  auto client = server.client();
  wait_for_door(client, "plant", [](const Door& door) { return door.state == "running"; });
  Producer producer(cluster);
  producer.produce("nonsense");
  producer.produce(number(1));
  const auto door =
      wait_for_door(client, "plant", [](const Door& seen) { return seen.events == 1; });
  EXPECT_EQ(door.dead_letters, 1u);
  EXPECT_EQ(door.position, "readings[0]@2");
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(KafkaDoor, OffsetsThatAreGoneAreToldAndReadingGoesOnBehindAFailure) {
  {
    ServerWithDoors server(folder, source());
    auto client = server.client();
    Producer producer(cluster);
    for (std::int64_t i = 1; i <= 3; ++i) producer.produce(number(i));
    wait_for_door(client, "plant", [](const Door& seen) { return seen.events == 3; });
    EXPECT_EQ(server.stop(), 0);
  }
  // The topic was made anew and is shorter, and the brokers do not say where it begins.
  Cluster shorter;
  Producer(shorter).produce(number(4));
  shorter.refuse(Cluster::kListOffsets, {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
                                         RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED});
  ServerWithDoors server(folder, source_of(shorter.address(), ""));
  auto client = server.client();
  const auto door =
      wait_for_door(client, "plant", [](const Door& seen) { return seen.events == 1; });
  EXPECT_EQ(door.failures, 1u);
  EXPECT_EQ(door.dead_letters, 1u);
  EXPECT_EQ(door.position, "readings[0]@1");
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(KafkaDoor, BrokersAreKnownByTheirCertificate) {
  make_certificates((folder / "").string());
  const auto trusting = [&](const TlsFront& front, const std::string& name) {
    return source_of(front.address(), "ca = \"" + (folder / (name + ".pem")).string() + "\"\n");
  };
  Producer(cluster).produce(number(1));
  {
    const TlsFront front(cluster.address(), (folder / "right").string());
    ServerWithDoors server(folder, trusting(front, "right"));
    auto client = server.client();
    wait_for_door(client, "plant", [](const Door& seen) { return seen.events == 1; });
    EXPECT_EQ(server.stop(), 0);
    expect_no_trust(folder, trusting(front, "other"), "plant");
  }
  const TlsFront front(cluster.address(), (folder / "stranger").string());
  expect_no_trust(folder, trusting(front, "stranger"), "plant");
}

TEST_F(KafkaDoor, BrokersThatAreAwayAreAFailure) {
  cluster.go_down();
  ServerWithDoors server(folder, source() + sink());
  auto client = server.client();
  const auto is = [](const std::string& state) {
    return [state](const Door& seen) { return seen.state == state; };
  };
  EXPECT_THAT(wait_for_door(client, "plant", is("failing")).problem, HasSubstr("readings"));
  EXPECT_THAT(wait_for_door(client, "out", is("failing")).problem, HasSubstr("brokers"));
  cluster.come_up();
  for (const char* door : {"plant", "out"}) wait_for_door(client, door, is("running"));
  // A connection that is lost is noticed while there is nothing to send.
  cluster.go_down();
  wait_for_door(client, "out", is("failing"));
  cluster.come_up();
  wait_for_door(client, "out", is("running"));
  EXPECT_EQ(server.stop(), 0);
}

}  // namespace
}  // namespace gorgo::kafka_door
