#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>

#include "door_support.hpp"
#include "doors/kafka/client.hpp"
#include "doors/nats/connection.hpp"
#include "peer_support.hpp"
#include "postgres_support.hpp"

// Prints how many events a second pass through each door, and how many the other side takes from or
// gives to a client of its own at best, as a table. GORGO_EVENTS: how many pass, default 100000.
namespace gorgo::speed {
namespace {

using Clock = std::chrono::steady_clock;
namespace kafka = doors::kafka;
namespace nats = doors::nats;

std::int64_t events() {
  const char* given = std::getenv("GORGO_EVENTS");
  return given == nullptr ? 100'000 : std::atoll(given);
}

/// Events a second, where `pass` has all of them pass.
double rate_of(const std::function<void()>& pass) {
  const auto begin = Clock::now();
  pass();
  return static_cast<double>(events()) /
         std::chrono::duration<double>(Clock::now() - begin).count();
}

void tell(const char* door, const char* way, double rate, std::optional<double> ceiling = {}) {
  std::printf("| %s | %s | %.0f | ", door, way, rate);
  std::printf(ceiling ? "%.0f |\n" : "|\n", ceiling.value_or(0));
  std::fflush(stdout);
}

std::string payload(std::int64_t n) { return "{\"v\":" + std::to_string(n) + "}"; }

/// A file with a payload in each line.
void write_payloads(const Folder& folder, const std::string& name, const std::string& before = "") {
  std::ofstream out(folder / name);
  for (std::int64_t n = 1; n <= events(); ++n) out << before << payload(n) << '\n';
}

int run(const std::string& command) { return Peer({"sh", "-c", command}).wait(); }

void wait_until(const std::string& what, const std::function<bool()>& done) {
  const auto until = Clock::now() + std::chrono::minutes(5);
  while (!done()) {
    ASSERT_LT(Clock::now(), until) << "waited for " << what;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// A server with a journal and one door, as its defaults are.
class Server {
 public:
  Server(const Folder& folder, const std::string& door) {
    folder.write("gorgo.toml", "[doors.it]\n" + door);
    process_.emplace(std::vector<std::string>{"serve", "--listen", "127.0.0.1:0", "--log-level",
                                              "off", "--journal", (folder / "journal").string(),
                                              "--config", (folder / "gorgo.toml").string()});
    client_.emplace(*Client::connect(address_in(process_->out_line())));
  }
  ~Server() {
    client_.reset();
    process_->signal(SIGTERM);
    process_->wait();
  }

  void wait_for(const std::function<bool(const Door&)>& done) {
    wait_until("the door", [&] { return done(client_->doors()->front()); });
  }
  /// Until as many events have passed through the door.
  void wait_for_events() {
    wait_for([](const Door& door) { return door.events >= static_cast<std::uint64_t>(events()); });
  }
  void publish() {
    constexpr std::int64_t kBatch = 1000;
    for (std::int64_t n = 1; n <= events();) {
      std::vector<Event> batch;
      for (; n <= events() && std::ssize(batch) < kBatch; ++n) {
        batch.push_back({"A", std::nullopt, {{"v", n}}});
      }
      ASSERT_TRUE(client_->publish(batch));
    }
  }

 private:
  std::optional<Process> process_;
  std::optional<Client> client_;
};

/// How many events a second come in to a server that starts when all of them are there. Its start
/// is part of the time.
double rate_in(const Folder& folder, const std::string& door) {
  return rate_of([&] { Server(folder, door + "type = \"A\"\n").wait_for_events(); });
}

/// How many events a second leave a server to which a client publishes.
double rate_out(const Folder& folder, const std::string& door) {
  Server server(folder, door + "subscribe = \"A\"\n");
  server.wait_for([](const Door& seen) { return seen.state == "running"; });
  return rate_of([&] {
    server.publish();
    server.wait_for_events();
  });
}

class Speed : public testing::Test {
 protected:
  const Folder in{"speed_in"}, out{"speed_out"}, peer{"speed_peer"};
};

TEST_F(Speed, File) {
  write_payloads(peer, "in.ndjson");
  tell("file", "in",
       rate_in(in, "kind = \"file\"\nformat = \"json\"\npath = \"" + (peer / "in.ndjson").string() +
                       "\"\n"));
  tell("file", "out",
       rate_out(out, "kind = \"file\"\npath = \"" + (peer / "out.ndjson").string() + "\"\n"));
}

TEST_F(Speed, Mqtt) {
  const std::string port = std::to_string(free_port());
  peer.write("mosquitto.conf", "listener " + port +
                                   " 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n"
                                   "log_type error\n");
  const Peer broker({GORGO_MOSQUITTO, "-c", (peer / "mosquitto.conf").string()});
  write_payloads(peer, "payloads");
  const std::string sub = "mosquitto_sub -p " + port + " -t speed/A -q 1 -c -i speed ";
  wait_until("Mosquitto", [&] { return run(sub + "-E 2>/dev/null") == 0; });
  const std::string door = "kind = \"mqtt\"\nbroker = \"127.0.0.1:" + port + "\"\n";
  const std::string source = door + "topics = [\"speed/A\"]\nformat = \"json\"\n";
  // A broker keeps messages for a session that it knows.
  Server(in, source).wait_for([](const Door& seen) { return seen.state == "running"; });
  // mosquitto_pub takes ever longer for a message, the more of them wait.
  const double to_broker = rate_of([&] {
    EXPECT_EQ(run("split -l 2000 --filter='mosquitto_pub -p " + port + " -t speed/A -q 1 -l' " +
                  (peer / "payloads").string()),
              0);
  });
  const double from_broker =
      rate_of([&] { EXPECT_EQ(run(sub + "-C " + std::to_string(events())), 0); });
  tell("mqtt", "in", rate_in(in, source), from_broker);
  tell("mqtt", "out", rate_out(out, door + "topic = \"out\"\n"), to_broker);
}

class Stream {
 public:
  explicit Stream(const std::string& server) {
    natsConnection* connection = nullptr;
    wait_until("nats-server", [&] {
      return natsConnection_ConnectTo(&connection, ("nats://" + server).c_str()) == NATS_OK;
    });
    connection_.reset(connection);
    jsOptions options;
    jsOptions_Init(&options);
    options.PublishAsync.MaxPending = 200;  // as doors have it
    options.PublishAsync.StallWait = 60'000;
    jsCtx* context = nullptr;
    EXPECT_EQ(natsConnection_JetStream(&context, connection, &options), NATS_OK);
    context_.reset(context);
    make("IN", "in");
    make("OUT", "out");
  }
  void publish() {
    for (std::int64_t n = 1; n <= events(); ++n) {
      const std::string text = payload(n);
      ASSERT_EQ(js_PublishAsync(context_.get(), "in", text.data(), static_cast<int>(text.size()),
                                nullptr),
                NATS_OK);
    }
    EXPECT_EQ(js_PublishAsyncComplete(context_.get(), nullptr), NATS_OK);
  }
  void read() {
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.Config.AckPolicy = js_AckNone;
    options.Config.FlowControl = true;
    options.Config.Heartbeat = 2'000'000'000;
    natsSubscription* made = nullptr;
    ASSERT_EQ(js_SubscribeSync(&made, context_.get(), "in", nullptr, &options, nullptr), NATS_OK);
    const nats::Owned<natsSubscription> subscription(made);
    for (std::int64_t n = 1; n <= events(); ++n) {
      natsMsg* message = nullptr;
      ASSERT_EQ(natsSubscription_NextMsg(&message, made, 60'000), NATS_OK);
      natsMsg_Destroy(message);
    }
  }

 private:
  nats::Owned<natsConnection> connection_;
  nats::Owned<jsCtx> context_;

  void make(const char* name, const char* subject) {
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = name;
    config.Subjects = &subject;
    config.SubjectsLen = 1;
    wait_until("JetStream", [&] {
      return js_AddStream(nullptr, context_.get(), &config, nullptr, nullptr) == NATS_OK;
    });
  }
};

TEST_F(Speed, Nats) {
  const std::string port = std::to_string(free_port());
  const Peer broker({GORGO_NATS_SERVER, "-a", "127.0.0.1", "-p", port, "-js", "-sd",
                     (peer / "nats").string(), "-l", (peer / "nats.log").string()});
  Stream stream("127.0.0.1:" + port);
  const double to_stream = rate_of([&] { stream.publish(); });
  const double from_stream = rate_of([&] { stream.read(); });
  const std::string door = "kind = \"nats\"\nbroker = \"127.0.0.1:" + port + "\"\n";
  tell("nats", "in", rate_in(in, door + "stream = \"IN\"\nsubject = \"in\"\nformat = \"json\"\n"),
       from_stream);
  tell("nats", "out", rate_out(out, door + "stream = \"OUT\"\nsubject = \"out\"\n"), to_stream);
}

/// A client with the properties of doors.
kafka::Owned<rd_kafka_t> kafka_client(rd_kafka_type_t type, const std::string& brokers) {
  static kafka::Trouble trouble;
  kafka::Config config;
  config.set("bootstrap.servers", brokers);
  if (type == RD_KAFKA_CONSUMER) config.set("group.id", "speed");
  if (type == RD_KAFKA_PRODUCER) config.set("enable.idempotence", "true");
  if (type == RD_KAFKA_PRODUCER) config.set("linger.ms", "1");
  auto client = config.make(type, trouble);
  EXPECT_TRUE(client);
  return std::move(*client);
}

void produce(rd_kafka_t* client) {
  for (std::int64_t n = 1; n <= events(); ++n) {
    const std::string text = payload(n);
    while (rd_kafka_producev(client, RD_KAFKA_V_TOPIC("in"),
                             RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                             RD_KAFKA_V_VALUE(const_cast<char*>(text.data()), text.size()),
                             RD_KAFKA_V_END) == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      rd_kafka_poll(client, 10);
    }
  }
  EXPECT_EQ(rd_kafka_flush(client, 60'000), RD_KAFKA_RESP_ERR_NO_ERROR);
}

void consume(rd_kafka_t* client) {
  const kafka::Owned<rd_kafka_topic_partition_list_t> list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), "in", 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
  ASSERT_EQ(rd_kafka_assign(client, list.get()), RD_KAFKA_RESP_ERR_NO_ERROR);
  const Patience patience("for messages of Kafka");
  for (std::int64_t n = 0; n < events() && patience.lasts();) {
    const kafka::Owned<rd_kafka_message_t> message(rd_kafka_consumer_poll(client, 1000));
    if (message != nullptr && message->err == RD_KAFKA_RESP_ERR_NO_ERROR) ++n;
  }
  rd_kafka_consumer_close(client);
}

TEST_F(Speed, Kafka) {
  char why[512] = "";
  const kafka::Owned<rd_kafka_t> handle(
      rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), why, sizeof why));
  ASSERT_TRUE(handle) << why;
  rd_kafka_mock_cluster_t* const cluster = rd_kafka_mock_cluster_new(handle.get(), 1);
  for (const char* topic : {"in", "out"}) rd_kafka_mock_topic_create(cluster, topic, 1, 1);
  const std::string brokers = rd_kafka_mock_cluster_bootstraps(cluster);
  const auto producer = kafka_client(RD_KAFKA_PRODUCER, brokers);
  const double to_cluster = rate_of([&] { produce(producer.get()); });
  const auto consumer = kafka_client(RD_KAFKA_CONSUMER, brokers);
  const double from_cluster = rate_of([&] { consume(consumer.get()); });
  const std::string door = "kind = \"kafka\"\nbroker = \"" + brokers + "\"\n";
  tell("kafka", "in", rate_in(in, door + "topics = [\"in\"]\nformat = \"json\"\n"), from_cluster);
  tell("kafka", "out", rate_out(out, door + "topic = \"out\"\n"), to_cluster);
  rd_kafka_mock_cluster_destroy(cluster);
}

TEST_F(Speed, Http) {
  const std::string port = std::to_string(free_port());
  write_payloads(peer, "in.ndjson");
  const Peer server({"python3", "-m", "http.server", port, "--bind", "127.0.0.1", "--directory",
                     (peer / "").string()});
  const std::string url = "http://127.0.0.1:" + port + "/in.ndjson";
  const std::string fetch = "curl -sf -o /dev/null " + url;
  wait_until("the server of HTTP", [&] { return run(fetch) == 0; });
  const double alone = rate_of([&] { EXPECT_EQ(run(fetch), 0); });
  tell("http", "in", rate_in(in, "kind = \"http\"\nformat = \"json\"\nurl = \"" + url + "\"\n"),
       alone);
}

TEST_F(Speed, Syslog) {
  const std::string port = std::to_string(free_port());
  write_payloads(peer, "messages", "<36>1 - plant door - - - ");
  Server server(in,
                "kind = \"syslog\"\ntransport = \"tcp\"\nlisten = \"127.0.0.1:" + port + "\"\n");
  server.wait_for([](const Door& seen) { return seen.state == "running"; });
  tell("syslog", "in", rate_of([&] {
         EXPECT_EQ(run("exec bash -c 'cat " + (peer / "messages").string() +
                       " > /dev/tcp/127.0.0.1/" + port + "'"),
                   0);
         server.wait_for_events();
       }));
}

TEST_F(Speed, Postgres) {
  fs::permissions(peer / "", fs::perms::all);
  const Postgres database(peer);
  for (const std::string table : {"alone", "echoes"}) {
    ask(database,
        "create table " + table + " (id text, ts timestamptz, v bigint, primary key (id, ts))");
  }
  {
    std::ofstream rows(peer / "rows.csv");
    for (std::int64_t n = 1; n <= events(); ++n) {
      rows << n << "-1,2024-05-01 12:00:00+00," << n << '\n';
    }
  }
  const double copied = rate_of([&] {
    EXPECT_EQ(
        run("psql -q -h 127.0.0.1 -p " + database.port() + " -U gorgo -c \"\\copy alone from '" +
            (peer / "rows.csv").string() + "' csv\" postgres"),
        0);
  });
  tell("postgres", "out",
       rate_out(out,
                "kind = \"postgres\"\ntable = \"echoes\"\ndatabase = \"host=127.0.0.1 "
                "user=gorgo dbname=postgres port=" +
                    database.port() + "\"\n"),
       copied);
}

}  // namespace
}  // namespace gorgo::speed
