#include <gtest/gtest.h>
#include <nats/nats.h>

#include <memory>

#include "peer_support.hpp"
#include "serve_node.hpp"

// A node whose broker is away: it starts, says so, and keeps what it takes.
namespace gorgo::cluster_test {
namespace {

const std::string kSmoke =
    "event Smoke(area: string, v: int);\n"
    "rule fire: define Fire(area: string, v: int)\n"
    "  from Smoke(area = $a) where area = $a, v = Smoke.v;\n";

class ServeOutage : public testing::Test {
 protected:
  const Folder folder{"serve_outage"};
  const int port = free_port();
  const std::string broker = "127.0.0.1:" + std::to_string(port);
  std::unique_ptr<Peer> nats;
  std::int64_t published = 0;

  void start_broker() {
    nats = std::make_unique<Peer>(
        Command{GORGO_NATS_SERVER, "-a", "127.0.0.1", "-p", std::to_string(port), "-js", "-sd",
                (folder / "nats").string(), "-l", (folder / "nats.log").string()});
  }
  void publish_some(const ServeNode& node) {
    std::vector<Event> events;
    for (int i = 0; i < 10; ++i) {
      const std::string area = i % 2 == 0 ? "A1" : "A2";
      events.push_back({"Smoke", std::nullopt, {{"area", area}, {"v", ++published}}});
    }
    const auto done = node.client().publish(events, {.acknowledge = Acknowledge::durable});
    ASSERT_TRUE(done) << done.error().to_string();
    EXPECT_EQ(done->refused, 0u);
  }
  /// Has the broker drop all messages of a stream.
  void forget(const char* stream) const {
    natsConnection* connection = nullptr;
    jsCtx* context = nullptr;
    ASSERT_EQ(natsConnection_ConnectTo(&connection, ("nats://" + broker).c_str()), NATS_OK);
    ASSERT_EQ(natsConnection_JetStream(&context, connection, nullptr), NATS_OK);
    EXPECT_EQ(js_PurgeStream(context, stream, nullptr, nullptr), NATS_OK);
    jsCtx_Destroy(context);
    natsConnection_Destroy(connection);
  }
  /// Waits until a way to the broker has failed, and returns what is wrong with it.
  static std::string problem_of(const ServeNode& node, const char* name) {
    auto client = node.client();
    return wait_for_door(client, name, [](const Door& door) { return door.state == "failing"; })
        .problem;
  }
};

TEST_F(ServeOutage, AnEventThatIsTooLargeForBrokersIsRefusedAndHoldsNothingUp) {
  start_broker();
  ServeNode node(folder, broker, "north", 2, 1);
  node.wait_for_doors();
  deploy_from(folder, node, kSmoke);
  auto client = node.client();
  ASSERT_TRUE(client.subscribe("Fire", {.durable = "fires"}));
  const auto smoke = [](std::string area) {
    return Event{"Smoke", std::nullopt, {{"area", std::move(area)}, {"v", std::int64_t{1}}}};
  };
  const std::vector events{smoke(std::string(400'000, 'x')), smoke(std::string(1'500'000, 'x')),
                           smoke("A1")};
  const auto done = client.publish(events, {.acknowledge = Acknowledge::durable});
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->accepted, 2u);
  ASSERT_EQ(done->refusals.size(), 1u);
  EXPECT_NE(done->refusals[0].reason.find("of an event of a cluster"), std::string::npos)
      << done->refusals[0].reason;
  int received = 0;
  for (const Patience patience("for the fires"); received < 2 && patience.lasts();) {
    const auto delivery = client.next(Duration{100'000'000});
    ASSERT_TRUE(delivery) << delivery.error().to_string();
    if (*delivery) ++received;
  }
}

TEST_F(ServeOutage, ANodeWithoutBrokersStartsSaysSoAndKeepsWhatItTakes) {
  ServeNode node(folder, broker, "north", 2, 1);
  for (const char* const door : {"cluster in", "cluster out"}) {
    const std::string problem = problem_of(node, door);
    EXPECT_NE(problem.find(broker), problem.npos) << problem;
    EXPECT_NE(problem.find("start nats-server"), problem.npos) << problem;
  }
  start_broker();
  node.wait_for_doors();
  deploy_from(folder, node, kSmoke);
  ASSERT_TRUE(node.client().subscribe("Fire", {.durable = "fires"}));
  publish_some(node);

  nats->end(SIGKILL);
  publish_some(node);
  node.kill();
  node.start();
  publish_some(node);
  EXPECT_NE(problem_of(node, "cluster out"), "");
  EXPECT_EQ(node.end(), 0);
  node.start();
  start_broker();

  auto client = node.client();
  ASSERT_TRUE(client.subscribe("Fire", {.durable = "fires"}));
  std::map<std::string, std::int64_t> last = {{"A1", -1}, {"A2", 0}};
  std::int64_t received = 0;
  for (const Patience patience("for the fires"); received < published && patience.lasts();) {
    const auto delivery = client.next(Duration{100'000'000});
    ASSERT_TRUE(delivery) << delivery.error().to_string();
    if (!*delivery) continue;
    ++received;
    const auto& attributes = (*delivery)->event.attributes;
    const auto v = std::get<std::int64_t>(attributes[1].value);
    std::int64_t& before = last[std::get<std::string>(attributes[0].value)];
    EXPECT_EQ(v, before + 2) << "lost, doubled or out of order";
    before = v;
  }
  EXPECT_EQ(received, published);
  EXPECT_EQ(node.end(), 0);
}

/// As it is when the last deployment was longer ago than streams keep messages.
TEST_F(ServeOutage, ANodeIsToldTheRulesThatItsStreamHasForgotten) {
  start_broker();
  ServeNode node(folder, broker, "north", 2, 1);
  node.wait_for_doors();
  deploy_from(folder, node, kSmoke);
  node.kill();
  forget("GORGO_c_IN_area");
  node.start();
  node.wait_for_doors();

  auto client = node.client();
  ASSERT_TRUE(client.subscribe("Fire", {.durable = "fires"}));
  std::int64_t received = 0;
  for (const Patience patience("for a fire"); received == 0 && patience.lasts();) {
    publish_some(node);
    const auto delivery = client.next(Duration{1'000'000'000});
    ASSERT_TRUE(delivery) << delivery.error().to_string();
    if (*delivery) ++received;
  }
  EXPECT_EQ(received, 1);
  EXPECT_EQ(node.end(), 0);
}

}  // namespace
}  // namespace gorgo::cluster_test
