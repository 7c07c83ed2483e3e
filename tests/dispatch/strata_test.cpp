#include "dispatch/strata.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gorgo::dispatch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A rule that produces `type` and reads `inputs`.
plan::Plan rule(TypeId type, const std::vector<TypeId>& inputs) {
  plan::Plan plan;
  plan.rule.type = type;
  for (const TypeId input : inputs) plan.reach[input] = 0;
  return plan;
}

TEST(Strata, ARuleRunsAfterEverythingThatFeedsIt) {
  // 0 and 1 are primitive; 2 comes from 0 and, later, from 3.
  const plan::Plan a = rule(2, {0});
  const plan::Plan b = rule(3, {1, 0});
  const plan::Plan c = rule(2, {3});
  const plan::Plan d = rule(4, {0, 2});
  const std::vector<const plan::Plan*> plans = {&d, &c, &b, &a};
  const Strata strata = stratify(plans, 5);
  EXPECT_THAT(strata.cycle, IsEmpty());
  EXPECT_THAT(strata.types, ElementsAre(0, 0, 2, 1, 3));
  EXPECT_THAT(strata.rules, ElementsAre(2, 1, 0, 0));
}

TEST(Strata, CyclesAreNamedInTheDirectionOfTheEvents) {
  const plan::Plan a = rule(1, {0});
  const plan::Plan b = rule(2, {1});
  const plan::Plan c = rule(1, {2});
  const std::vector<const plan::Plan*> plans = {&a, &b, &c};
  EXPECT_THAT(stratify(plans, 3).cycle, ElementsAre(1, 2, 1));
}

TEST(Strata, LongChainsNeedNoRecursion) {
  std::vector<plan::Plan> chain;
  for (TypeId i = 0; i < 200'000; ++i) chain.push_back(rule(i + 1, {i}));
  std::vector<const plan::Plan*> plans;
  for (const auto& plan : chain) plans.push_back(&plan);
  std::reverse(plans.begin(), plans.end());
  EXPECT_EQ(stratify(plans, 200'001).types.back(), 200'000u);
}

}  // namespace
}  // namespace gorgo::dispatch
