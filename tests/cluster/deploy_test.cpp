#include "cluster/deploy.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "../plan/plan_support.hpp"
#include "cluster/gateway.hpp"
#include "cluster/names.hpp"
#include "cluster/plan_store.hpp"
#include "one_broker.hpp"

// Deployments over a nats-server, and what they do about gateways.
namespace gorgo::cluster {
namespace {

const std::string kFire =
    "event Smoke(area: string);\n"
    "rule fire:\ndefine Fire(area: string)\nfrom Smoke(area = $a)\nwhere area = $a;\n";
const std::string kCount =
    "event Smoke(area: string);\n"
    "rule much:\ndefine Much(n: int)\nfrom Smoke() and $n = Count(Smoke() within 1 s from Smoke)\n"
    "where n = $n;\n";

class ClusterDeploy : public testing::Test {
 protected:
  const Folder folder_{"cluster_deploy"};
  const OneBroker broker_{folder_};
  Settings settings_{
      .name = "plant", .node = "north", .brokers = broker_.address(), .partitions = 4};

  Result<Deployed> deploy_text(const std::string& text) const {
    const plan::Planned planned(text);
    return deploy(settings_, {{"rules.tesla", text}}, plan_cluster(planned.plans, planned.schema));
  }
  /// Once the broker has started.
  Deployed insist_to_deploy(const std::string& text) const {
    Deployed outcome;
    insist("for the deployment", [&]() -> Result<void> {
      const auto done = deploy_text(text);
      if (!done) return done.error();
      outcome = *done;
      return {};
    });
    return outcome;
  }
};

TEST_F(ClusterDeploy, TheSecondTakesThePlaceOfTheFirst) {
  EXPECT_EQ(insist_to_deploy(kFire).version, 1u);
  settings_.partitions = 7;  // which the first deployment has decided
  EXPECT_EQ(insist_to_deploy(kCount).version, 2u);
  const auto found = deployed(settings_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, 2u);
  EXPECT_EQ(found->partitions, 4u);
  ASSERT_EQ(found->texts.size(), 1u);
  EXPECT_EQ(found->texts[0].text, kCount);
  EXPECT_EQ(found->plan.find("area"), nullptr);
  EXPECT_NE(found->plan.find(kWhole), nullptr);
}

TEST_F(ClusterDeploy, ANodeThatSaysNothingIsToldOfAndNotWaitedFor) {
  Gateway gateway(settings_, 1);
  insist("for the broker", [&] { return gateway.idle(); });
  const Deployed done = insist_to_deploy(kFire);
  EXPECT_TRUE(done.gateways.empty());
  EXPECT_EQ(done.absent, std::vector<std::string>{"north"});
}

TEST_F(ClusterDeploy, AGatewayIsFoundWhileItSpeaks) {
  insist_to_deploy(kFire);
  doors::nats::Connection ours(broker_settings(settings_), "ours"),
      theirs(broker_settings(settings_), "theirs");
  ASSERT_TRUE(ours.open());
  ASSERT_TRUE(theirs.open());
  PlanStore reads("plant"), writes("plant");
  ASSERT_TRUE(reads.open(ours.get()));
  ASSERT_TRUE(writes.open(theirs.get()));
  ASSERT_TRUE(writes.confirm("north", 1));
  std::atomic<bool> ends = false;
  std::thread speaking([&] {
    while (!ends) EXPECT_TRUE(writes.confirm("north", 1));
  });
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    const auto found = reads.gateways();
    EXPECT_TRUE(found && found->contains("north") && found->at("north").version == 1) << i;
  }
  ends = true;
  speaking.join();
}

TEST_F(ClusterDeploy, NothingIsDeployedAtFirst) {
  insist("for the broker", [&]() -> Result<void> {
    const auto found = deployed(settings_);
    if (!found) return found.error();
    EXPECT_EQ(found->version, 0u);
    return {};
  });
}

TEST_F(ClusterDeploy, AFamilyHasAPartition) {
  settings_.partitions = 0;
  const auto done = deploy_text(kFire);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "a family cannot have 0 partitions");
}

TEST(ClusterDeployment, ComesBackAsItWas) {
  Deployment one;
  one.version = 3;
  one.partitions = 5;
  one.texts = {{"fire.tesla", kFire}};
  const plan::Planned planned(kFire);
  one.plan = plan_cluster(planned.plans, planned.schema);
  const auto again = Deployment::parse(one.to_json());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->version, 3u);
  EXPECT_EQ(again->partitions, 5u);
  EXPECT_EQ(again->texts, one.texts);
  EXPECT_EQ(again->plan.families, one.plan.families);
  EXPECT_EQ(again->plan.routes, one.plan.routes);
  EXPECT_EQ(again->partition_names().size(), 5u);
}

TEST(ClusterDeployment, WhatIsNoneIsAnError) {
  for (const char* const text : {"", "{}", "[1]", "{\"version\": \"x\"}"}) {
    EXPECT_FALSE(Deployment::parse(text)) << text;
  }
}

}  // namespace
}  // namespace gorgo::cluster
