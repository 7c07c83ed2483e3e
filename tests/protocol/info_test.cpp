#include "protocol/info.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace gorgo::protocol {
namespace {

/// What a client gets of a rule.
RuleInfo sent(const RuleInfo& rule, bool with_text = true) {
  wire::RulesT rules;
  rules.rules.push_back(to_wire(rule, with_text));
  const Bytes frame = encode(1, rules);
  const auto message = open_frame(frame);
  EXPECT_TRUE(message);
  return to_rule(*(*message)->body_as_Rules()->rules()->Get(0));
}

/// Every member has a value of its own.
RuleInfo full_rule() {
  return {.serial = 0,
          .name = "f.rule",
          .type = "Fire",
          .engine = "cuda and column",
          .text = "rule r: ...",
          .reads = {"Smoke", "Temp"},
          .events = 0,
          .terminators = 2,
          .composites = 3,
          .overflows = 4,
          .pending = 5,
          .skipped = 6,
          .bytes = 7,
          .declined = 8,
          .declined_because = "late events",
          .automatic = true,
          .placed_because = "it costs less",
          .moves = 9,
          .costs = {{.engine = "column", .estimate = 1.5, .measured = 2.5, .upkeep = 3.5},
                    {.engine = "cuda", .estimate = {}, .measured = 4.5, .upkeep = {}}},
          .alarm = "they disagree",
          .suspended = true,
          .passed_over = 10,
          .rates = RuleRates{.seconds = 1, .events = 2, .terminators = 3, .composites = 4},
          .latency = RuleLatency{.mean = 0.5, .longest = 0.75},
          .attributes = {},
          .actions = {},
          .plan = "rule f.rule: ..."};
}

auto members_of(const EngineCost& cost) {
  return std::tie(cost.engine, cost.estimate, cost.measured, cost.upkeep);
}

void expect_equal(const RuleInfo& a, const RuleInfo& b) {
  const auto texts = [](const RuleInfo& r) {
    return std::tie(r.name, r.type, r.engine, r.text, r.reads, r.declined_because, r.placed_because,
                    r.alarm, r.plan);
  };
  const auto numbers = [](const RuleInfo& r) {
    return std::tie(r.terminators, r.composites, r.overflows, r.pending, r.skipped, r.bytes,
                    r.declined, r.automatic, r.moves, r.suspended, r.passed_over);
  };
  EXPECT_EQ(texts(a), texts(b));
  EXPECT_EQ(numbers(a), numbers(b));
  ASSERT_EQ(a.costs.size(), b.costs.size());
  for (std::size_t i = 0; i < a.costs.size(); ++i) {
    EXPECT_EQ(members_of(a.costs[i]), members_of(b.costs[i]));
  }
  ASSERT_EQ(a.latency.has_value(), b.latency.has_value());
  if (a.latency) {
    EXPECT_EQ(a.latency->mean, b.latency->mean);
    EXPECT_EQ(a.latency->longest, b.latency->longest);
  }
  ASSERT_EQ(a.rates.has_value(), b.rates.has_value());
  if (!a.rates) return;
  const auto rates = [](const RuleRates& r) {
    return std::tie(r.seconds, r.events, r.terminators, r.composites);
  };
  EXPECT_EQ(rates(*a.rates), rates(*b.rates));
}

TEST(Info, ARuleTravelsWhole) { expect_equal(sent(full_rule()), full_rule()); }

TEST(Info, ARuleOfWhichLittleIsKnownTravelsToo) {
  const RuleInfo rule{.name = "r", .type = "T"};
  expect_equal(sent(rule), rule);
}

TEST(Info, TheTextStaysAtHomeUnlessItIsAskedFor) {
  RuleInfo without = full_rule();
  without.text.clear();
  without.plan.clear();
  expect_equal(sent(full_rule(), false), without);
}

TEST(Info, ATypeTravelsWhole) {
  const TypeInfo type{
      .name = "Smoke", .reach = 1, .events = 2, .bytes = 3, .late = 4, .too_late = 5};
  wire::TypesT types;
  types.types.push_back(to_wire(type));
  const Bytes frame = encode(1, types);
  const auto message = open_frame(frame);
  ASSERT_TRUE(message);
  const TypeInfo got = to_type(*(*message)->body_as_Types()->types()->Get(0));
  const auto members = [](const TypeInfo& t) {
    return std::tie(t.name, t.reach, t.events, t.bytes, t.late, t.too_late);
  };
  EXPECT_EQ(members(got), members(type));
}

}  // namespace
}  // namespace gorgo::protocol
