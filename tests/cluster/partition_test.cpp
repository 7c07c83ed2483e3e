#include <gtest/gtest.h>

#include <random>

#include "cluster/partition.hpp"
#include "journal/snapshot.hpp"
#include "partition_support.hpp"

// Partitions as processes on a JetStream of three servers, all of which die. What the output stream
// has at the end is what one processor makes of the events, in its order, each composite once.
namespace gorgo::cluster_test {
namespace {

/// A process that has a partition.
class Worker {
 public:
  Worker(const BrokerCluster& brokers, const Folder& folder, const std::string& node,
         std::string role)
      : snapshots_((folder / node).string()),
        command_{GORGO_CLUSTER_WORKER, brokers.addresses(), "c", "f", "0", node,
                 std::move(role),      snapshots_} {
    start();
  }

  void kill() { process_->end(SIGKILL); }
  void start() { process_ = std::make_unique<Peer>(command_); }
  void kill_and_start() {
    kill();
    start();
  }
  /// The last input message that its snapshots know.
  std::uint64_t snapshot() const {
    const auto disk = journal::make_posix_disk();
    const auto there = journal::snapshots_in(*disk, snapshots_);
    return there && !there->empty() ? there->front() - 1 : 0;
  }
  void pause() { process_->signal(SIGSTOP); }
  void go_on() { process_->signal(SIGCONT); }

 private:
  const std::string snapshots_;
  const Command command_;
  std::unique_ptr<Peer> process_;
};

class PartitionAtNodes : public testing::Test {
 protected:
  const Folder folder{"partition"};
  BrokerCluster brokers{folder};
  Streams streams{brokers};
  const std::string out = cluster::output_stream("c", "f", 0);
  Gateway gateway{streams, "c", "f"};
  Composites composites{streams, out};
  std::mt19937 random{static_cast<unsigned>(getpid())};

  void SetUp() override {
    streams.make(cluster::input_stream("c", "f"), cluster::input_subjects("c", "f"));
    streams.make(out, cluster::output_subject("c", "f", 0));
    gateway.publish_rules();
  }
  cluster::PartitionSettings settings(const std::string& node) const {
    doors::Settings broker;
    broker.broker = brokers.addresses();
    return {.broker = broker,
            .cluster = "c",
            .family = "f",
            .number = 0,
            .node = node,
            .options = {},
            .snapshots = {.folder = (folder / node).string(), .bytes = 10'000}};
  }
  void sleep(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }
  /// Publishes while something dies, so often.
  template <class Die>
  void run(Die die) {
    std::atomic<bool> ended = false;
    std::thread publisher([&] {
      while (!ended) gateway.publish_some();
    });
    for (int i = 0; i < deaths(); ++i) {
      sleep(20 + static_cast<int>(random() % 400));
      die(i);
    }
    ended = true;
    publisher.join();
  }
  void check() {
    composites.wait_for(gateway.expected().size());
    const auto& got = composites.read();
    const auto& expected = gateway.expected();
    EXPECT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
      ASSERT_EQ(got[i], expected[i]) << "composite " << i;
    }
    std::printf("%llu events, %zu composites; messages by node:",
                static_cast<unsigned long long>(gateway.events()), got.size());
    for (const auto& [node, count] : composites.writers()) {
      std::printf(" %s %d", node.c_str(), count);
    }
    std::printf("\n");
  }
};

TEST_F(PartitionAtNodes, AnOwnerThatIsKilledGoesOnBehindTheLastMessage) {
  Worker worker(brokers, folder, "n0", "owner");
  run([&](int) { worker.kill_and_start(); });
  check();
}

// The stream has forgotten the rules, too.
TEST_F(PartitionAtNodes, WhatTheStreamHasForgottenASnapshotKnows) {
  Worker worker(brokers, folder, "n0", "owner");
  for (int i = 0; i < deaths(); ++i) {
    const std::uint64_t before = worker.snapshot();
    const Patience patience("for a snapshot");
    while (worker.snapshot() == before && patience.lasts()) gateway.publish_some();
    worker.kill();
    streams.forget(cluster::input_stream("c", "f"), worker.snapshot());
    worker.start();
  }
  check();
}

TEST_F(PartitionAtNodes, WhatNobodyHasPublishedASnapshotKnows) {
  const std::string in = cluster::input_stream("c", "f");
  {
    const cluster::Partition standby(settings("s"), cluster::Role::standby);
    for (int i = 0; i < 50; ++i) gateway.publish_some();
    const Patience patience("for the standby");
    while (standby.state().sequence < streams.last_sequence(in) && patience.lasts()) sleep(20);
    EXPECT_GT(standby.state().waiting, 0u);
  }
  streams.forget(in, streams.last_sequence(in));
  const cluster::Partition owner(settings("s"), cluster::Role::owner);
  check();
}

TEST_F(PartitionAtNodes, TwoOwnersAtOnceWriteEachCompositeOnce) {
  Worker first(brokers, folder, "n0", "owner"), second(brokers, folder, "n1", "owner");
  run([&](int i) { (i % 2 == 0 ? first : second).kill_and_start(); });
  check();
}

TEST_F(PartitionAtNodes, AnOwnerThatWasStoppedAndGoesOnIsKeptOut) {
  Worker first(brokers, folder, "n0", "owner"), second(brokers, folder, "n1", "owner");
  run([&](int i) {
    Worker& zombie = i % 2 == 0 ? first : second;
    zombie.pause();
    sleep(3500);  // longer than a lease
    zombie.go_on();
  });
  check();
}

TEST_F(PartitionAtNodes, BrokersThatAreKilledLoseNothing) {
  Worker first(brokers, folder, "n0", "owner"), second(brokers, folder, "n1", "owner");
  run([&](int i) {
    const auto leader = brokers.leader_of(out);
    const std::size_t victim = i % 2 == 0 && leader ? *leader : random() % 3;
    brokers.kill(victim);
    sleep(500 + static_cast<int>(random() % 2000));
    brokers.start(victim);
    sleep(2000);
  });
  check();
}

// Where messages come all the time, no wait for the next one is in vain, which would show the end.
TEST_F(PartitionAtNodes, AStandbyCatchesUpWhileMessagesComeAllTheTime) {
  std::atomic<bool> ended = false;
  std::thread publisher([&] {
    const auto connection = brokers.connect();
    natsMsg* made = nullptr;
    natsMsg_Create(&made, cluster::input_subject("c", "f", 0).c_str(), nullptr, "", 0);
    const Owned<natsMsg> message(made);
    natsMsgHeader_Set(made, cluster::kClockHeader, "1");
    while (!ended) {
      natsConnection_PublishMsg(connection.get(), made);
      sleep(5);
    }
  });
  {
    cluster::Partition standby(settings("s"), cluster::Role::standby);
    const Patience patience("for the standby");
    while (!standby.state().has_caught_up && patience.lasts()) sleep(20);
    EXPECT_TRUE(standby.state().has_caught_up);
    EXPECT_LT(standby.state().sequence, 2000);  // waiting for a pause takes some 10 000
  }
  ended = true;
  publisher.join();
}

}  // namespace
}  // namespace gorgo::cluster_test
