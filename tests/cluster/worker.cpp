#include <unistd.h>

#include <cstdlib>
#include <string>

#include "cluster/partition.hpp"

// A partition as a process of its own, which tests kill and stop: BROKERS CLUSTER FAMILY PARTITION
// NODE owner|standby FOLDER. It has a snapshot in the folder every few messages, and lives until it
// is killed.
int main(int count, char** arguments) {
  using namespace gorgo::cluster;
  if (count != 8) return 2;
  gorgo::doors::Settings broker;
  broker.kind = "nats";
  broker.broker = arguments[1];
  const bool is_owner = std::string(arguments[6]) == "owner";
  const Partition partition({.broker = broker,
                             .cluster = arguments[2],
                             .family = arguments[3],
                             .number = static_cast<std::uint32_t>(std::atoi(arguments[4])),
                             .node = arguments[5],
                             .options = {},
                             .snapshots = {.folder = arguments[7], .bytes = 10'000}},
                            is_owner ? Role::owner : Role::standby);
  while (true) pause();
}
