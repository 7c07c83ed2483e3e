#include <gtest/gtest.h>

#include <random>

#include "cluster/overview.hpp"
#include "node_support.hpp"

// Four nodes as processes on a JetStream of three servers. What publishers gave and what the output
// streams hold at the end decide.
namespace gorgo::cluster_test {
namespace {

constexpr int kPartitions = 4;
constexpr int kNodes = 4;

class Nemesis : public testing::Test {
 protected:
  const Folder folder{"nemesis"};
  BrokerCluster brokers{folder};
  TestCluster cluster{brokers, kPartitions};
  Watcher watcher{brokers, kPartitions};
  std::vector<std::unique_ptr<NodeProcess>> nodes;
  std::mt19937 random{static_cast<unsigned>(getpid())};

  void start(int count, bool warm = true) {
    for (int i = 0; i < count; ++i) {
      nodes.push_back(std::make_unique<NodeProcess>(brokers, folder, "n" + std::to_string(i),
                                                    kPartitions, warm));
    }
  }
  void sleep(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }
  int below(int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); }
  NodeProcess& node_called(const std::string& name) {
    for (auto& one : nodes) {
      if (one->name() == name) return *one;
    }
    return *nodes.front();
  }
  void wait_for_writers() {
    const Patience patience("for an owner of each partition");
    const auto all_write = [&] {
      for (std::size_t p = 0; p < kPartitions; ++p) {
        if (watcher.last_writer(p).empty()) return false;
      }
      return true;
    };
    while (!all_write() && patience.lasts()) sleep(50);
  }
  /// Kills owners of partitions, waits each time until another one writes, and says how long that
  /// took. One takes some seconds, so there are a third of the deaths of other tests.
  void kill_owners() {
    std::vector<long> times;
    for (int i = 0; i < std::max(1, deaths() / 3); ++i) {
      const auto partition = static_cast<std::size_t>(below(kPartitions));
      const std::string owner = watcher.last_writer(partition);
      NodeProcess& victim = node_called(owner);
      const auto from = Watcher::Clock::now();
      victim.kill();
      std::optional<std::chrono::milliseconds> took;
      const Patience patience("for another owner");
      while (!took && patience.lasts()) {
        sleep(20);
        took = watcher.until_another(partition, owner, from);
      }
      if (took) times.push_back(took->count());
      victim.start();
      sleep(4000 + below(1000));
    }
    ASSERT_FALSE(times.empty());
    std::ranges::sort(times);
    const auto at = [&](std::size_t percent) { return times[(times.size() - 1) * percent / 100]; };
    std::printf("%zu failovers, p50 %ld ms, p99 %ld ms, longest %ld ms\n", times.size(), at(50),
                at(99), times.back());
  }
};

TEST_F(Nemesis, WhoeverDiesStopsOrIsCutOffNothingIsLostOrDoubled) {
  start(kNodes);
  cluster.publish(std::chrono::milliseconds(5));
  wait_for_writers();
  std::array<int, 5> done{};
  for (int i = 0; i < deaths(); ++i) {
    NodeProcess& node = *nodes[static_cast<std::size_t>(below(kNodes))];
    const int what = i < 5 ? i : below(5);
    ++done[static_cast<std::size_t>(what)];
    if (what == 0) {
      node.kill();
      sleep(below(4500));
      node.start();
    } else if (what == 1) {
      node.pause();
      sleep(3500 + below(1500));  // longer than a lease
      node.go_on();
    } else if (what == 2) {
      const auto leader = brokers.leader_of(
          cluster::output_stream("c", "f", static_cast<std::uint32_t>(below(kPartitions))));
      const std::size_t victim = leader ? *leader : random() % 3;
      brokers.kill(victim);
      sleep(500 + below(2000));
      brokers.start(victim);
      sleep(2500);
    } else if (what == 3) {
      node.cut();
    } else {
      EXPECT_EQ(node.end(), 0);
      sleep(below(1000));
      node.start();
    }
    sleep(below(1500));
  }
  cluster.end();
  cluster.check();
  std::printf(
      "%d kills, %d pauses, %d kills of a broker, %d cuts, %d orderly ends; %ld messages to "
      "each partition\n",
      done[0], done[1], done[2], done[3], done[4], cluster.turns());
}

TEST_F(Nemesis, PartitionsMoveAndNodesAreDrainedWithoutLoss) {
  start(3);
  cluster.publish(std::chrono::milliseconds(5));
  wait_for_writers();
  doors::Settings broker;
  broker.broker = brokers.addresses();
  const auto wait_until = [&](const char* what, auto is_so) {
    const Patience patience(what);
    while (!is_so() && patience.lasts()) sleep(50);
  };
  const std::string before = watcher.last_writer(0);
  const std::string to = before == "n0" ? "n1" : "n0";
  // Where the machine is busy, a request may take the brokers too long, and a node its lease.
  const auto do_once = [&](const char* what, auto attempt) {
    std::string why;
    wait_until(what, [&] {
      const Result<void> done = attempt();
      why = done ? "" : done.error().to_string();
      return done.has_value();
    });
    ASSERT_EQ(why, "") << what;
  };
  do_once("for the order to move", [&] {
    return cluster::move_partition(broker, "c", {"f", 0}, to);
  });
  wait_until("for the move", [&] { return watcher.last_writer(0) == to; });
  EXPECT_FALSE(cluster::move_partition(broker, "c", {"f", 99}, to));
  EXPECT_FALSE(cluster::move_partition(broker, "c", {"f", 0}, "n9"));
  EXPECT_FALSE(cluster::drain_node(broker, "c", "n9", true));
  do_once("for the order to drain", [&] { return cluster::drain_node(broker, "c", to, true); });
  wait_until("for the drained node to give away", [&] {
    for (std::size_t p = 0; p < kPartitions; ++p) {
      if (watcher.last_writer(p) == to) return false;
    }
    return true;
  });
  const auto seen = cluster::look_at(broker, "c");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->situation.live.size(), 3u);
  EXPECT_EQ(seen->partitions().size(), static_cast<std::size_t>(kPartitions));
  EXPECT_TRUE(seen->situation.live.at(to).owns.empty());
  for (const auto& one : seen->partitions()) EXPECT_EQ(seen->owners(one).size(), 1u);
  do_once("for the order to end that", [&] { return cluster::drain_node(broker, "c", to, false); });
  wait_until("for it to take part again", [&] { return watcher.last_writer(0) == to; });
  cluster.end();
  cluster.check();
}

TEST_F(Nemesis, ASuccessorWithoutAStandbyGoesOnWithoutLoss) {
  const char* given = std::getenv("GORGO_EVENTS");
  const int messages = (given == nullptr ? 20'000 : std::atoi(given)) / 20 / kPartitions;
  cluster.publish_turns(messages);
  start(2, false);
  cluster.publish(std::chrono::milliseconds(5));
  wait_for_writers();
  sleep(4000);
  kill_owners();
  cluster.end();
  cluster.check();
}

}  // namespace
}  // namespace gorgo::cluster_test
