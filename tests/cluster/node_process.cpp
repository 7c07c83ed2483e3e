#include <csignal>
#include <cstdlib>
#include <string>

#include "cluster/node.hpp"

// A node as a process of its own: BROKERS CLUSTER NODE FAMILY PARTITIONS warm|cold FOLDER. Each of
// its partitions has a snapshot in the folder every few messages. It ends with SIGTERM.
int main(int count, char** arguments) {
  using namespace gorgo::cluster;
  if (count != 8) return 2;
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before there are threads, which inherit it
  gorgo::doors::Settings broker;
  broker.kind = "nats";
  broker.broker = arguments[1];
  std::vector<PartitionName> all;
  for (int i = 0; i < std::atoi(arguments[5]); ++i) {
    all.push_back({arguments[4], static_cast<std::uint32_t>(i)});
  }
  const Node node({.broker = broker,
                   .cluster = arguments[2],
                   .node = arguments[3],
                   .replicas = 3,
                   .has_standbys = std::string(arguments[6]) == "warm",
                   .options = {},
                   .snapshots = {.folder = arguments[7], .bytes = 10'000}},
                  [&](const gorgo::doors::nats::Connection&) { return all; });
  int number = 0;
  sigwait(&ends, &number);
}
