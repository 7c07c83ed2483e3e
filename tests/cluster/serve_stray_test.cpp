#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nats/nats.h>

#include <map>
#include <memory>

#include "http_support.hpp"
#include "one_broker.hpp"
#include "serve_node.hpp"

// A message in an output stream that no node wrote: the partition stands still until it is removed,
// and all that operators look at say so.
namespace gorgo::cluster_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Headers = std::map<std::string, std::string>;

const std::string kFire =
    "event Smoke(area: string, v: int);\n"
    "rule fire: define Fire(area: string, v: int)\n"
    "  from Smoke(area = $a) where area = $a, v = Smoke.v;\n";

/// What a command prints.
std::string printed(const std::vector<std::string>& arguments) {
  Process process(arguments);
  std::string all;
  for (std::string line = process.out_line(); !line.empty(); line = process.out_line()) all += line;
  return all;
}

class ServeStray : public testing::TestWithParam<Headers> {
 protected:
  const Folder folder{"serve_stray"};
  const cluster::OneBroker broker{folder};
  const std::string http = "127.0.0.1:" + std::to_string(free_port());
  ServeNode node{folder, broker.address(), "north", 1, 1, GORGO_BINARY, {"--http", http}};
  natsConnection* connection = nullptr;
  jsCtx* context = nullptr;

  void SetUp() override {
    node.wait_for_doors();
    deploy_from(folder, node, kFire);
    ASSERT_EQ(natsConnection_ConnectTo(&connection, ("nats://" + broker.address()).c_str()),
              NATS_OK);
    ASSERT_EQ(natsConnection_JetStream(&context, connection, nullptr), NATS_OK);
  }
  void TearDown() override {
    jsCtx_Destroy(context);
    natsConnection_Destroy(connection);
  }
  /// Returns its sequence.
  std::uint64_t put_message(const Headers& headers) const {
    natsMsg* made = nullptr;
    natsMsg_Create(&made, "gorgo.c.out.area.0", nullptr, "hello", 5);
    for (const auto& [name, value] : headers) natsMsgHeader_Set(made, name.c_str(), value.c_str());
    jsPubAck* ack = nullptr;
    EXPECT_EQ(js_PublishMsg(&ack, context, made, nullptr, nullptr), NATS_OK);
    const std::uint64_t sequence = ack == nullptr ? 0 : ack->Sequence;
    jsPubAck_Destroy(ack);
    natsMsg_Destroy(made);
    return sequence;
  }
  void publish(std::int64_t v) const {
    const std::vector<Event> events{{"Smoke", std::nullopt, {{"area", "A1"}, {"v", v}}}};
    const auto done = node.client().publish(events, {.acknowledge = Acknowledge::durable});
    ASSERT_TRUE(done) << done.error().to_string();
    EXPECT_EQ(done->accepted, 1u);
  }
  static std::int64_t next_fire(Client& client) {
    for (const Patience patience("for a fire"); patience.lasts();) {
      const auto delivery = client.next(Duration{100'000'000});
      EXPECT_TRUE(delivery) << delivery.error().to_string();
      if (!delivery) return 0;
      if (*delivery) return std::get<std::int64_t>((*delivery)->event.attributes[1].value);
    }
    return 0;
  }
  std::string asked(const std::string& path) const {
    return server::HttpConnection(http).ask("GET", path).body;
  }
  std::string status() const { return printed({"cluster", "status", "--config", node.config()}); }
};

TEST_P(ServeStray, IsToldWhereOperatorsLookUntilItIsRemoved) {
  auto client = node.client();
  ASSERT_TRUE(client.subscribe("Fire", {.durable = "fires"}));
  publish(1);
  EXPECT_EQ(next_fire(client), 1);
  EXPECT_THAT(status(), Not(HasSubstr("stands still")));
  const std::uint64_t sequence = put_message(GetParam());
  publish(2);

  const std::string remedy = "nats stream rmm GORGO_c_OUT_area_0 " + std::to_string(sequence);
  const auto tells = AllOf(HasSubstr("area/0"), HasSubstr("stands still"), HasSubstr(remedy));
  EXPECT_THAT(node.log_line("partition="), tells);
  EXPECT_THAT(status(), tells);
  EXPECT_THAT(printed({"cluster", "status", "--config", node.config(), "--format", "json"}),
              HasSubstr(remedy));
  EXPECT_THAT(printed({"doctor", "cluster", "--config", node.config()}), tells);
  EXPECT_THAT(asked("/v1/cluster"), HasSubstr(remedy));
  EXPECT_THAT(
      asked("/metrics"),
      HasSubstr("gorgo_cluster_partition_problems_total{family=\"area\",partition=\"0\"} 1\n"));

  publish(3);
  ASSERT_EQ(js_DeleteMsg(context, "GORGO_c_OUT_area_0", sequence, nullptr, nullptr), NATS_OK);
  EXPECT_EQ(next_fire(client), 2);
  EXPECT_EQ(next_fire(client), 3);
  EXPECT_THAT(node.log_line("partition="), HasSubstr("goes on")) << "it was told more than once";
  EXPECT_THAT(status(), Not(HasSubstr("stands still")));
  EXPECT_EQ(node.end(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Messages, ServeStray,
    testing::Values(Headers{},                                // nobody knows what it follows from
                    Headers{{"Gorgo-Place", "1-0-1"}},        // nobody says that he wrote it
                    Headers{{"Gorgo-Place", "99999999-1-1"},  // what it follows from has not come
                            {"Gorgo-Node", "north"}}));

}  // namespace
}  // namespace gorgo::cluster_test
