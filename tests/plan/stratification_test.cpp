#include "plan/stratification.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <memory>

namespace gorgo::plan {
namespace {

/// Rules by number; an empty place stands for one that was removed.
using Rules = std::vector<std::unique_ptr<Plan>>;

std::unique_ptr<Plan> make_rule(TypeId type, const std::vector<TypeId>& inputs) {
  auto plan = std::make_unique<Plan>();
  plan->rule.type = type;
  for (const TypeId input : inputs) plan->reach[input] = 0;
  return plan;
}

/// From this type on there are joint types; the first has the types 0 and 1, the next 1 and 2.
constexpr TypeId kJoint = 12;

void add_joints(Plan& plan) {
  for (const auto& [input, reach] : plan.reach) {
    if (input < kJoint) continue;
    const TypeId first = input - kJoint;
    plan.rule.joints.push_back(
        {.type = input,
         .members = {{.type = first, .attributes = {}}, {.type = first + 1, .attributes = {}}}});
  }
}

std::vector<Cycle> in_order(std::span<const Cycle> cycles) {
  std::vector<Cycle> sorted(cycles.begin(), cycles.end());
  std::ranges::sort(sorted, {}, [](const Cycle& cycle) { return cycle.types.front(); });
  return sorted;
}

/// The strata made from scratch, with the rules' own numbers.
Strata from_scratch(const Rules& rules, TypeId type_count) {
  std::vector<const Plan*> plans;
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    if (rules[i] == nullptr) continue;
    plans.push_back(rules[i].get());
    numbers.push_back(i);
  }
  Strata strata = stratify(plans, type_count);
  std::vector<std::uint32_t> levels(rules.size());
  for (std::uint32_t i = 0; i < numbers.size(); ++i) levels[numbers[i]] = strata.rules[i];
  strata.rules = std::move(levels);
  for (Cycle& cycle : strata.cycles) {
    for (std::uint32_t& number : cycle.rules) number = numbers[number];
  }
  return strata;
}

void expect_as_from_scratch(const Stratification& kept, const Rules& rules, TypeId type_count) {
  const Strata strata = from_scratch(rules, type_count);
  std::vector<bool> produced(type_count), closes(rules.size());
  std::uint32_t levels = 1;
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    if (rules[i] == nullptr) continue;
    RC_ASSERT(kept.level_of_rule(i) == strata.rules[i]);
    levels = std::max(levels, strata.rules[i] + 1);
    produced[rules[i]->rule.type] = true;
  }
  RC_ASSERT(kept.levels() == levels);
  const auto own = in_order(kept.cycles()), expected = in_order(strata.cycles);
  RC_ASSERT(own.size() == expected.size());
  std::vector<bool> in_cycle(type_count);
  for (std::size_t i = 0; i < own.size(); ++i) {
    RC_ASSERT(own[i].level == expected[i].level);
    RC_ASSERT(own[i].types == expected[i].types);
    RC_ASSERT(own[i].rules == expected[i].rules);
    for (const TypeId type : own[i].types) in_cycle[type] = true;
    for (const std::uint32_t number : own[i].rules) closes[number] = true;
  }
  for (TypeId type = 0; type < type_count; ++type) {
    RC_ASSERT(kept.level_of_type(type) == strata.types[type]);
    RC_ASSERT(kept.in_cycle(type) == in_cycle[type]);
    if (type < kJoint) RC_ASSERT(kept.is_produced(type) == produced[type]);
  }
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    if (rules[i] != nullptr) RC_ASSERT(kept.closes_cycle(i) == closes[i]);
  }
}

/// Adds, replaces or removes a rule.
void change_one(Stratification& kept, Rules& rules, TypeId type_count) {
  const auto type = rc::gen::inRange<TypeId>(0, type_count);
  const auto place = *rc::gen::inRange<std::uint32_t>(0, rules.size() + 1);
  if (place == rules.size()) rules.emplace_back();
  if (rules[place] != nullptr && *rc::gen::arbitrary<bool>()) {
    kept.remove(place);
    rules[place] = nullptr;
    return;
  }
  const auto input = rc::gen::oneOf(type, rc::gen::inRange(kJoint, kJoint + type_count));
  auto next = make_rule(*type, *rc::gen::nonEmpty(rc::gen::container<std::vector<TypeId>>(input)));
  add_joints(*next);
  if (rules[place] != nullptr) {
    kept.remove(place, *rc::gen::arbitrary<bool>() ? next.get() : nullptr);
  }
  rules[place] = std::move(next);
  kept.add(place, *rules[place]);
}

RC_GTEST_PROP(Stratification, IsWhatItWouldBeFromScratch, ()) {
  const auto type_count = *rc::gen::inRange<TypeId>(1, kJoint);
  const auto changes = *rc::gen::inRange(1, 40);
  Stratification kept;
  Rules rules;
  for (int i = 0; i < changes; ++i) {
    for (auto together = *rc::gen::inRange(1, 4); together > 0; --together) {
      change_one(kept, rules, type_count);
    }
    kept.update();
    expect_as_from_scratch(kept, rules, 2 * kJoint);
  }
}

/// What it takes to add one more rule, made by `make(i)`, to so many others.
template <class Make>
std::uint64_t cost_of_one_more(std::uint32_t others, Make make) {
  Stratification strata;
  Rules rules;
  for (std::uint32_t i = 0; i <= others; ++i) {
    rules.push_back(make(i));
    if (i < others) strata.add(i, *rules[i]);
  }
  strata.update();
  const std::uint64_t before = strata.looked_at();
  strata.add(others, *rules[others]);
  strata.update();
  return strata.looked_at() - before;
}

TEST(Stratification, OneMoreRuleCostsWhatItReads) {
  const auto all_read_one = [](std::uint32_t i) { return make_rule(i + 1, {0}); };
  const auto all_make_one = [](std::uint32_t i) { return make_rule(0, {i + 1}); };
  const auto all_are_alike = [](std::uint32_t) { return make_rule(1, {0}); };
  const auto chain = [](std::uint32_t i) { return make_rule(i + 1, {i}); };
  EXPECT_LE(cost_of_one_more(10'000, all_read_one), 10u);
  EXPECT_LE(cost_of_one_more(10'000, all_make_one), 10u);
  EXPECT_LE(cost_of_one_more(10'000, all_are_alike), 10u);
  EXPECT_LE(cost_of_one_more(10'000, chain), 10u);
}

TEST(Stratification, RemovingARuleCostsWhatItReads) {
  Stratification strata;
  Rules rules;
  for (std::uint32_t i = 0; i < 10'000; ++i)
    strata.add(i, *rules.emplace_back(make_rule(i + 1, {0})));
  strata.update();
  const std::uint64_t before = strata.looked_at();
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    strata.remove(i);
    strata.update();
  }
  EXPECT_LE(strata.looked_at() - before, 100'000u);
  EXPECT_EQ(strata.levels(), 1u);
}

}  // namespace
}  // namespace gorgo::plan
