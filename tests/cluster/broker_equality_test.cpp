#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "cluster/deploy.hpp"
#include "cluster/gateway.hpp"
#include "cluster/outlet.hpp"
#include "cluster/partition.hpp"
#include "columns.hpp"
#include "keyed_results.hpp"
#include "keyed_rules.hpp"
#include "one_broker.hpp"

// Gateway, partitions and outlet over a nats-server give what one processor gives.
namespace gorgo::cluster {
namespace {

constexpr std::uint32_t kPartitions = 4;

std::vector<std::unique_ptr<Partition>> workers(const Settings& settings) {
  std::vector<std::unique_ptr<Partition>> all;
  const auto deployment = deployed(settings);
  if (!deployment) {
    ADD_FAILURE() << deployment.error().to_string();
    return all;
  }
  for (const PartitionName& name : deployment->partition_names()) {
    all.push_back(std::make_unique<Partition>(PartitionSettings{.broker = broker_settings(settings),
                                                                .cluster = settings.name,
                                                                .family = name.family,
                                                                .number = name.number,
                                                                .node = "worker",
                                                                .options = {}},
                                              Role::owner));
  }
  return all;
}

/// Sends all events, some at a time. Now and then the last ones come again, cut in another way, as
/// behind a crash of the node.
void send(Gateway& gateway, const doors::Departing& events, KeyedRules& random) {
  for (std::size_t done = 0; done < events.rows.size();) {
    const std::size_t size = std::min<std::size_t>(static_cast<std::size_t>(random.number(1, 40)),
                                                   events.rows.size() - done);
    const auto first = events.rows.begin() + static_cast<std::ptrdiff_t>(done);
    Columns some({first, first + static_cast<std::ptrdiff_t>(size)});
    const auto view = some.view();
    insist("to send", [&] { return gateway.send_columns(std::span(&view, 1)); });
    done += size;
    if (!random.one_in(4)) continue;
    done -= std::min<std::size_t>(done, static_cast<std::size_t>(random.number(0, 30)));
  }
}

/// Has the rules put in force while the gateway goes on.
void deploy_beside(Gateway& gateway, const Settings& settings, const std::string& text,
                   const ClusterPlan& plan) {
  std::atomic<bool> is_deployed = false;
  std::thread deploying([&] {
    const auto done = deploy(settings, {{"rules.tesla", text}}, plan);
    if (done) {
      EXPECT_EQ(done->gateways, std::vector<std::string>{"north"});
    } else {
      ADD_FAILURE() << done.error().to_string();
    }
    is_deployed = true;
  });
  while (!is_deployed) {
    insist("for the deployment", [&] { return gateway.idle(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  deploying.join();
}

/// Takes composites until as many have come as are expected, and then nothing for a while. Now and
/// then another outlet goes on where one has ended, as behind a crash of the node.
Lines receive(Gateway& gateway, std::unique_ptr<Outlet> outlet, const Settings& settings,
              std::size_t expected, KeyedRules& random) {
  Lines got;
  const Patience patience("for the composites");
  for (auto quiet = 0; patience.lasts() && (quiet < 3 || count(got) < expected);) {
    insist("for the clock", [&] { return gateway.idle(); });
    auto arrived = outlet->poll(std::chrono::milliseconds(400));
    if (!arrived) {
      ADD_FAILURE() << arrived.error().to_string();
      return got;
    }
    EXPECT_TRUE(arrived->dead.empty());
    quiet = arrived->events.events() == 0 ? quiet + 1 : 0;
    for (BatchCursor next(arrived->events.batch()); !next.done(); next.advance()) {
      note(next.to_event(), got);
    }
    if (arrived->position.empty() || !random.one_in(2)) continue;
    outlet = std::make_unique<Outlet>(settings, arrived->position);
  }
  return got;
}

/// How many composites were compared.
std::size_t run_case(const OneBroker& broker, std::uint64_t seed) {
  KeyedRules random(seed);
  const std::string text = random.rules();
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
  const Settings settings{.name = "c" + std::to_string(seed),
                          .node = "north",
                          .brokers = broker.address(),
                          .partitions = kPartitions};
  Gateway gateway(settings, 77);
  insist("for the broker", [&] { return gateway.idle(); });
  auto outlet = std::make_unique<Outlet>(settings, "");
  EXPECT_TRUE(outlet->poll(std::chrono::milliseconds(1)));

  const plan::Planned planned(text);
  const ClusterPlan plan = plan_cluster(planned.plans, planned.schema);
  deploy_beside(gateway, settings, text, plan);
  const auto running = workers(settings);
  if (testing::Test::HasFailure()) return 0;

  doors::Departing events = random.stream();
  const Timestamp newest = 1'500'000'000;  // behind all deadlines
  events.rows.push_back({{events.rows.size() + 1, 0}, {"Later", newest, {}}});
  Lines expected = on_one(text, events.rows);
  send(gateway, events, random);
  Lines got = receive(gateway, std::move(outlet), settings, count(expected), random);
  sort_mixed(plan, planned, expected);
  sort_mixed(plan, planned, got);
  EXPECT_EQ(got, expected);
  return count(expected);
}

TEST(BrokerEquality, GivesWhatOneProcessorGives) {
  const Folder folder("broker_equality");
  const OneBroker broker(folder);
  const char* const given = std::getenv("GORGO_SEEDS");
  const std::uint64_t last = given == nullptr ? 6 : std::strtoull(given, nullptr, 10);
  std::size_t composites = 0;
  for (std::uint64_t seed = 1; seed <= last && !HasFailure(); ++seed) {
    composites += run_case(broker, seed);
  }
  EXPECT_GT(composites, 20u);  // otherwise this would say little
  std::printf("%zu composites\n", composites);
}

}  // namespace
}  // namespace gorgo::cluster
