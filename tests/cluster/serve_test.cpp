#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "cluster/deploy.hpp"
#include "partition_support.hpp"
#include "serve_traffic.hpp"
#include "watcher.hpp"

// Three nodes as processes of `gorgo serve` on a JetStream of three servers, which die amid events.
namespace gorgo::cluster_test {
namespace {

constexpr int kPartitions = 4;
constexpr std::size_t kNodes = 3;

class ServeNemesis : public testing::Test {
 protected:
  using Clock = std::chrono::steady_clock;

  const Folder folder{"serve_nemesis"};
  BrokerCluster brokers{folder};
  std::vector<std::unique_ptr<ServeNode>> nodes;
  std::unique_ptr<Watcher> watcher;
  std::mt19937 random{static_cast<unsigned>(getpid())};
  std::vector<long> failovers, behind_brokers;  // milliseconds
  int kills = 0, pauses = 0, broker_kills = 0;
  /// The last fault was the death of a broker, whose streams are still about to find another
  /// leader.
  bool is_behind_broker = false;

  std::vector<std::unique_ptr<Subscriber>> subscribers;
  std::vector<std::unique_ptr<Publisher>> publishers;

  void SetUp() override {
    // The program of another version, which the nodes are at first.
    const char* const before = std::getenv("GORGO_BEFORE");
    for (std::size_t i = 0; i < kNodes; ++i) {
      nodes.push_back(std::make_unique<ServeNode>(folder, brokers.addresses(),
                                                  "n" + std::to_string(i), kPartitions, 3,
                                                  before == nullptr ? GORGO_BINARY : before));
    }
    for (const auto& node : nodes) node->wait_for_doors();
    deploy_from(folder, *nodes[0], kTrafficRules);
    watcher = std::make_unique<Watcher>(brokers, kPartitions, "k");
  }
  int below(int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); }
  static void sleep(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }
  ServeNode& any_node() { return *nodes[random() % kNodes]; }
  std::size_t any_partition() { return static_cast<std::size_t>(below(kPartitions)); }

  void wait_for_writers() {
    const Patience patience("for an owner of each partition");
    for (std::size_t p = 0; p < kPartitions; ++p) {
      while (watcher->last_writer(p).empty() && patience.lasts()) sleep(50);
    }
  }
  /// Waits until somebody else publishes for a partition that this node has had.
  void await_successor(const ServeNode& victim, std::size_t partition, Clock::time_point from) {
    std::optional<std::chrono::milliseconds> took;
    const Patience patience("for another owner");
    while (!took && patience.lasts()) {
      sleep(20);
      took = watcher->until_another(partition, victim.name(), from);
    }
    if (took) (is_behind_broker ? behind_brokers : failovers).push_back(took->count());
  }
  /// Kills the owner of a partition or, one time in three, any node, which comes back at once.
  void kill_node() {
    ++kills;
    const std::size_t partition = any_partition();
    const std::string owner = watcher->last_writer(partition);
    const auto found = std::ranges::find(nodes, owner, [](const auto& one) { return one->name(); });
    const bool waits = found != nodes.end() && below(3) > 0;
    ServeNode& victim = waits ? **found : any_node();
    const auto from = Clock::now();
    victim.kill();
    if (waits) await_successor(victim, partition, from);
    victim.start();
    is_behind_broker = false;
    sleep(waits ? 1500 + below(2500) : below(1500));
  }
  /// For longer than a lease.
  void pause_node() {
    ++pauses;
    ServeNode& victim = any_node();
    victim.signal(SIGSTOP);
    sleep(3500 + below(2000));
    victim.signal(SIGCONT);
    is_behind_broker = false;
    sleep(500 + below(1500));
  }
  void kill_broker() {
    ++broker_kills;
    const auto leader = brokers.leader_of(
        cluster::output_stream("c", "k", static_cast<std::uint32_t>(any_partition())));
    const std::size_t victim = leader ? *leader : random() % BrokerCluster::kServers;
    brokers.kill(victim);
    sleep(500 + below(2000));
    brokers.start(victim);
    is_behind_broker = true;
    sleep(2500);  // until all copies are whole again: with two dead, nobody can go on
  }
  void begin_traffic() {
    for (const auto& node : nodes) subscribers.push_back(std::make_unique<Subscriber>(*node));
    const Patience patience("for the subscribers");
    for (const auto& one : subscribers) {
      while (!one->is_subscribed() && patience.lasts()) sleep(20);
    }
    for (int i : {0, 1}) {
      publishers.push_back(
          std::make_unique<Publisher>(*nodes[static_cast<std::size_t>(i)], i, kPartitions));
    }
    wait_for_writers();
  }
  /// Ends it. Each composite is there once, in the streams and for each subscriber.
  void check_traffic() {
    std::map<std::string, std::int64_t> expected;
    std::uint64_t events = 0;
    for (const auto& one : publishers) {
      one->end();
      expected.insert(one->last().begin(), one->last().end());
      events += one->events();
    }
    std::size_t composites = 0;
    for (const auto& [key, last] : expected) composites += static_cast<std::size_t>(last) - 1;
    for (const auto& one : subscribers) {
      const Patience patience("for the last composites");
      while (one->received() < composites && patience.lasts()) sleep(50);
    }
    sleep(1000);  // in which something doubled would come
    for (const auto& one : subscribers) {
      one->end();
      EXPECT_EQ(one->last(), expected);
      EXPECT_EQ(one->received(), composites);
    }
    check_streams(composites);
    for (const auto& node : nodes) EXPECT_EQ(node->end(), 0);
    std::printf("%llu events, %zu composites, each once in the streams and at %zu subscribers\n",
                static_cast<unsigned long long>(events), composites, subscribers.size());
  }
  /// Each composite of the output streams is there once.
  std::size_t check_streams(std::size_t expected) {
    Streams streams(brokers);
    const auto deployment =
        cluster::deployed({.name = "c", .node = "test", .brokers = brokers.addresses()});
    EXPECT_TRUE(deployment);
    std::set<std::string> different;
    std::size_t all = 0;
    for (const auto& one : deployment->partition_names()) {
      Composites composites(streams, cluster::output_stream("c", one.family, one.number));
      const auto& got = composites.read();
      all += got.size();
      different.insert(got.begin(), got.end());
    }
    EXPECT_EQ(all, expected);
    EXPECT_EQ(different.size(), all) << "some are there twice";
    return all;
  }
};

void print_times(const char* what, std::vector<long> times) {
  if (times.empty()) return;
  std::ranges::sort(times);
  const auto at = [&](std::size_t percent) { return times[(times.size() - 1) * percent / 100]; };
  std::printf("%s: %zu times, p50 %ld ms, p99 %ld ms, longest %ld ms\n", what, times.size(), at(50),
              at(99), times.back());
}

TEST_F(ServeNemesis, WhicheverProcessDiesNothingIsLostOrDoubled) {
  begin_traffic();
  for (int i = 0; i < deaths() && !HasFailure(); ++i) {
    const int what = i % 7;  // of seven faults, five are deaths of nodes
    if (what == 1) pause_node();
    if (what == 2) kill_broker();
    if (what != 1 && what != 2) kill_node();
  }
  check_traffic();
  std::printf("%d nodes killed, %d paused, %d brokers killed\n", kills, pauses, broker_kills);
  print_times("until another node published", failovers);
  print_times("until another node published, right behind the death of a broker", behind_brokers);
}

TEST_F(ServeNemesis, NodesAreReplacedOneByOneWithoutLoss) {
  begin_traffic();
  for (const auto& node : nodes) {
    sleep(1000);
    EXPECT_EQ(node->end(), 0);
    node->start();
    node->wait_for_doors();
    sleep(3000);  // until it has partitions again
  }
  check_traffic();
}

}  // namespace
}  // namespace gorgo::cluster_test
