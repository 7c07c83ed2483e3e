#include "cluster/rules_keeper.hpp"

#include <gmock/gmock.h>

// When partitions are told again what rules are in force.
namespace gorgo::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000, kHour = 3600 * kSecond;
constexpr std::int64_t kNow = 1'000'000 * kHour;

class RulesKeeperTest : public testing::Test {
 protected:
  const PartitionName name_{"area", 2};
  RulesKeeper keeper_{"c"};
  Deployment deployment_;
  Partition::State state_;

  void SetUp() override {
    deployment_.version = 7;
    deployment_.retain_hours = 24;
    deployment_.plan.families.emplace_back().name = "area";
    state_.role = Role::owner;
    state_.is_publishing = state_.has_caught_up = true;
    state_.rules_version = 7;
    state_.rules_at = kNow;
  }
  std::vector<PartitionName> due(std::int64_t now) {
    return keeper_.due(deployment_, {{name_, state_}}, now);
  }
};

TEST_F(RulesKeeperTest, TellsThemAgainBeforeTheStreamForgetsThem) {
  EXPECT_THAT(due(kNow + 5 * kHour), IsEmpty());
  EXPECT_THAT(due(kNow + 7 * kHour), ElementsAre(name_));
  EXPECT_THAT(due(kNow + 7 * kHour + kSecond), IsEmpty()) << "whatever the broker's clock shows";
  state_.rules_at = kNow + 7 * kHour;
  EXPECT_THAT(due(kNow + 8 * kHour), IsEmpty());
}

TEST_F(RulesKeeperTest, TellsThemToAPartitionWhoseStreamHasForgottenThem) {
  state_.rules_version = 0;
  state_.rules_at = 0;
  EXPECT_THAT(due(kNow), IsEmpty()) << "a deployment may be about to tell it";
  EXPECT_THAT(due(kNow + 9 * kSecond), IsEmpty());
  EXPECT_THAT(due(kNow + 11 * kSecond), ElementsAre(name_));
  state_.rules_version = 7;
  state_.rules_at = kNow + 11 * kSecond;
  EXPECT_THAT(due(kNow + 12 * kSecond), IsEmpty());
}

TEST_F(RulesKeeperTest, BringsADeploymentToItsEndThatWasBrokenOff) {
  deployment_.version = 8;
  EXPECT_THAT(due(kNow), IsEmpty());
  EXPECT_THAT(due(kNow + 50 * kSecond), IsEmpty());
  EXPECT_THAT(due(kNow + 70 * kSecond), ElementsAre(name_));
}

TEST_F(RulesKeeperTest, LeavesItToTheOwner) {
  const auto later = kNow + 20 * kHour;
  state_.role = Role::standby;
  EXPECT_THAT(due(later), IsEmpty());
  state_.role = Role::owner;
  state_.is_publishing = false;
  EXPECT_THAT(due(later), IsEmpty());
  state_.is_publishing = true;
  state_.has_caught_up = false;
  EXPECT_THAT(due(later), IsEmpty());
  deployment_.plan.families.clear();
  state_.has_caught_up = true;
  EXPECT_THAT(due(later), IsEmpty());
}

}  // namespace
}  // namespace gorgo::cluster
