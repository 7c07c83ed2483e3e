#include <gtest/gtest.h>

#include <chrono>

#include "keyed_results.hpp"
#include "keyed_rules.hpp"
#include "one_broker.hpp"
#include "serve_node.hpp"

// Two nodes give what one processor gives. Nodes are `gorgo serve`, over one nats-server.
namespace gorgo::cluster {
namespace {

using cluster_test::ServeNode;

constexpr int kPartitions = 4;
constexpr std::size_t kTypes = 4;  // of composites, D0 and so on

/// The events of a stream at the present time, and one that has all deadlines pass.
std::vector<doors::Departing::Row> at_present(const doors::Departing& stream) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  // A little ahead, so that no word of the server about itself is newer.
  const Timestamp begin = std::chrono::nanoseconds(now).count() + 2'000'000'000;
  auto rows = stream.rows;
  for (auto& row : rows) *row.event.timestamp += begin;
  rows.push_back({{}, {"Later", begin + 1'500'000'000, {}}});
  return rows;
}

/// Publishes all events, some at a time. Where `kill` is set, the node dies in the middle.
void publish(ServeNode& node, const std::vector<doors::Departing::Row>& rows, KeyedRules& random,
             bool kill) {
  auto client = std::make_unique<Client>(node.client());
  for (std::size_t done = 0; done < rows.size();) {
    const auto most = static_cast<std::size_t>(random.number(1, 40));
    std::vector<Event> some;
    while (some.size() < most && done < rows.size()) some.push_back(rows[done++].event);
    const auto published = client->publish(some, {.acknowledge = Acknowledge::durable});
    ASSERT_TRUE(published) << published.error().to_string();
    ASSERT_EQ(published->refused, 0u) << published->refusals[0].reason;
    if (!kill || done < rows.size() / 2) continue;
    kill = false;
    node.kill();
    node.start();
    client = std::make_unique<Client>(node.client());
  }
}

/// What a subscriber of a node has got, once there is as much as is expected and no more comes.
Lines received(Client& client, std::size_t expected) {
  constexpr Duration kQuiet = 700'000'000;
  Lines lines;
  const Patience patience("for the composites");
  while (patience.lasts()) {
    const auto delivery = client.next(kQuiet);
    EXPECT_TRUE(delivery) << delivery.error().to_string();
    if (!delivery) break;
    if (*delivery) note((*delivery)->event, lines);
    if (!*delivery && count(lines) >= expected) break;
  }
  return lines;
}

/// How many composites were compared.
std::size_t run_case(std::uint64_t seed, bool kill) {
  const Folder folder("serve_equality_" + std::to_string(seed));
  const OneBroker broker(folder);
  KeyedRules random(seed);
  const std::string text = random.rules();
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
  ServeNode north(folder, broker.address(), "north", kPartitions, 1);
  ServeNode south(folder, broker.address(), "south", kPartitions, 1);
  north.wait_for_doors();
  south.wait_for_doors();
  cluster_test::deploy_from(folder, north, text);
  auto subscriber = south.client();
  for (std::size_t i = 0; i < kTypes; ++i) {
    const auto subscribed = subscriber.subscribe("D" + std::to_string(i));
    EXPECT_TRUE(subscribed && !subscribed->diagnostics.failed());
  }
  const auto rows = at_present(random.stream());
  Lines expected = on_one(text, rows);
  publish(north, rows, random, kill);
  if (testing::Test::HasFailure()) return 0;
  Lines got = received(subscriber, count(expected));
  const plan::Planned planned(text);
  const ClusterPlan plan = plan_cluster(planned.plans, planned.schema);
  sort_mixed(plan, planned, expected);
  sort_mixed(plan, planned, got);
  EXPECT_EQ(got, expected);
  return count(expected);
}

TEST(ServeEquality, NodesGiveWhatOneProcessorGives) {
  const char* const given = std::getenv("GORGO_SEEDS");
  const std::uint64_t last = given == nullptr ? 4 : std::strtoull(given, nullptr, 10);
  std::size_t composites = 0;
  for (std::uint64_t seed = 1; seed <= last && !HasFailure(); ++seed) {
    composites += run_case(seed, seed % 2 == 0);
  }
  EXPECT_GT(composites, 10u);  // otherwise this would say little; compilers draw different rules
  std::printf("%zu composites\n", composites);
}

}  // namespace
}  // namespace gorgo::cluster
