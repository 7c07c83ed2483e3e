#include "plan/strata.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gorgo::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A rule that produces `type` and reads `inputs`.
Plan rule(TypeId type, const std::vector<TypeId>& inputs) {
  Plan plan;
  plan.rule.type = type;
  for (const TypeId input : inputs) plan.reach[input] = 0;
  return plan;
}

TEST(Strata, ARuleRunsAfterEverythingThatFeedsIt) {
  // 0 and 1 are primitive; 2 comes from 0 and, later, from 3.
  const Plan a = rule(2, {0});
  const Plan b = rule(3, {1, 0});
  const Plan c = rule(2, {3});
  const Plan d = rule(4, {0, 2});
  const std::vector<const Plan*> plans = {&d, &c, &b, &a};
  const Strata strata = stratify(plans, 5);
  EXPECT_THAT(strata.cycles, IsEmpty());
  EXPECT_THAT(strata.types, ElementsAre(0, 0, 2, 1, 3));
  EXPECT_THAT(strata.rules, ElementsAre(2, 1, 0, 0));
}

TEST(Strata, ACycleStandsAboveWhatFeedsItAndBelowItsReaders) {
  // 0 -> 1 -> 2 <-> 3 -> 4; 2 also comes from 0 alone.
  const Plan feed = rule(1, {0});
  const Plan enter = rule(2, {1});
  const Plan there = rule(3, {2, 0});
  const Plan back = rule(2, {3});
  const Plan out = rule(4, {3});
  const std::vector<const Plan*> plans = {&out, &back, &there, &enter, &feed};
  const Strata strata = stratify(plans, 5);
  EXPECT_THAT(strata.types, ElementsAre(0, 1, 2, 2, 3));
  EXPECT_THAT(strata.rules, ElementsAre(2, 2, 2, 1, 0));
  ASSERT_EQ(strata.cycles.size(), 1u);
  EXPECT_EQ(strata.cycles[0].level, 2u);
  EXPECT_THAT(strata.cycles[0].types, ElementsAre(2, 3));
  EXPECT_THAT(strata.cycles[0].rules, ElementsAre(1, 2));
}

TEST(Strata, ARuleThatReadsWhatItProducesIsACycle) {
  const Plan a = rule(0, {0});
  const std::vector<const Plan*> plans = {&a};
  const Strata strata = stratify(plans, 1);
  ASSERT_EQ(strata.cycles.size(), 1u);
  EXPECT_THAT(strata.cycles[0].types, ElementsAre(0));
}

TEST(Strata, LongChainsNeedNoRecursion) {
  std::vector<Plan> chain;
  for (TypeId i = 0; i < 200'000; ++i) chain.push_back(rule(i + 1, {i}));
  std::vector<const Plan*> plans;
  for (const auto& plan : chain) plans.push_back(&plan);
  std::reverse(plans.begin(), plans.end());
  EXPECT_EQ(stratify(plans, 200'001).types.back(), 200'000u);
}

}  // namespace
}  // namespace gorgo::plan
