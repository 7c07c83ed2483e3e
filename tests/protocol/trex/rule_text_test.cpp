#include "protocol/trex/rule_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "gorgo/processor.hpp"
#include "language/describe.hpp"
#include "language/language.hpp"
#include "protocol/trex/decode.hpp"
#include "support.hpp"

namespace gorgo::protocol::trex {
namespace {

using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Tree of(const Reference& reference, ValueType type = ValueType::integer) {
  return {type, reference};
}
Tree of(Literal value) { return {trex::type_of(value), value}; }
Tree of(Operation operation, Tree left, Tree right) {
  return {ValueType::integer, Tree::Inner{operation, {std::move(left), std::move(right)}}};
}

/// 1 as terminator, and 2 within a second, with which a test does what it likes.
Rule pair() {
  Rule rule;
  rule.predicates = {{1, {}, -1, 0, Selection::each}, {2, {}, 0, 1000, Selection::each}};
  rule.composite.type = 3;
  return rule;
}

std::string text_of(const Rule& rule) {
  const auto text = rule_text(rule, default_name);
  EXPECT_TRUE(text) << text.error().to_string();
  return text ? text->text : "";
}

std::string problem_of(const Rule& rule) {
  const auto text = rule_text(rule, default_name);
  EXPECT_FALSE(text);
  return text ? "" : text.error().message;
}

std::string meaning_of(const std::string& text) {
  const auto bound = language::compile({"rule.tesla", text}, Schema());
  EXPECT_FALSE(bound.diagnostics.failed()) << bound.diagnostics.render() << text;
  std::string meaning;
  for (const auto& rule : bound.rules) meaning += language::describe(rule, bound.schema);
  return meaning;
}

TEST(TRexRules, ThePacketsOfTheJavaClientMeanWhatItsTextsMean) {
  const Bytes small = from_hex(kSmallRule), full = from_hex(kFullRule);
  EXPECT_EQ(meaning_of(text_of(*decode_rule(body_of(small)))), meaning_of(kSmallRuleText));
  // A packet has no parameters: the attribute that one would be bound to stands in its place.
  EXPECT_EQ(text_of(*decode_rule(body_of(full))),
            "assign 1 => T1, 2 => T2, 3 => T3, 4 => T4\n"
            "define T4(x: int, y: int)\n"
            "from T1()\n"
            "  and each T2([int]k = T1.k) within 1000 ms from T1\n"
            "  and not T3(b = true) between T2 and T1\n"
            "where x = sum(T2().v within 500 ms from T1), y = 7\n"
            "consuming T2;\n");
}

/// The composites that a text makes of the events, as texts.
std::vector<std::string> composites_of(const std::string& rule, const std::vector<Event>& events) {
  ProcessorOptions options;
  options.engine = "reference";
  Processor processor(options);
  const auto deployed = processor.deploy("rule.tesla", rule);
  EXPECT_FALSE(deployed.failed()) << deployed.render();
  std::vector<std::string> found;
  for (const Event& event : events) EXPECT_TRUE(processor.append(event));
  processor.process([&](const OutputBatch& batch) {
    for (const auto& row : batch.rows) {
      if (row.place.ordinal == 0) continue;
      std::string text = std::string(batch.type_name(row));
      batch.for_each_attribute(row, [&](std::string_view name, const Datum& value) {
        text += " " + std::string(name) + "=" + std::to_string(value.integer);
      });
      found.push_back(text);
    }
  });
  return found;
}

TEST(TRexRules, ThePacketsOfTheJavaClientFireAsItsTextsDo) {
  const auto at = [](Timestamp ms) { return ms * 1'000'000; };
  const std::vector<Event> events = {
      {"T2", at(100), {{"k", std::int64_t{1}}, {"v", std::int64_t{3}}}},
      {"T2", at(700), {{"k", std::int64_t{1}}, {"v", std::int64_t{5}}}},
      {"T2", at(800), {{"k", std::int64_t{2}}, {"v", std::int64_t{7}}}},
      {"T1", at(1000), {{"k", std::int64_t{1}}}},
      {"T1", at(1001), {{"k", std::int64_t{1}}}},
      {"T3", at(1002), {{"b", true}}},
      {"T1", at(1003), {{"k", std::int64_t{2}}}},
  };
  const Bytes full = from_hex(kFullRule);
  const auto fired = composites_of(text_of(*decode_rule(body_of(full))), events);
  EXPECT_EQ(fired, composites_of(kFullRuleText, events));
  EXPECT_THAT(fired, ElementsAre("T4 x=12 y=7", "T4 x=12 y=7"));
}

TEST(TRexRules, ValuesKeepTheirTypes) {
  Rule rule = pair();
  rule.predicates[1].constraints = {
      {"i", Comparison::less, std::numeric_limits<std::int32_t>::min()},
      {"f", Comparison::greater_equal, -0.1f},
      {"b", Comparison::not_equal, true},
      {"s", Comparison::contains, "\"a\\\n\xE9"sv}};
  rule.composite.constants = {{"i", -1}, {"f", 1e20f}, {"b", false}, {"s", ""sv}};
  const std::string text = text_of(rule);
  EXPECT_THAT(text, HasSubstr("T2(i < -2147483648, f >= -0.10000000149011612, b != true, "
                              "s contains \"\\\"a\\\\\\n\xC3\xA9\")"));
  EXPECT_THAT(text, HasSubstr("define T3(i: int, f: float, b: bool, s: string)"));
  EXPECT_THAT(text, HasSubstr("where i = -1, f = 1.00000002004087"));
  meaning_of(text);
}

TEST(TRexRules, EachComparisonIsWrittenAsTheLanguageSpellsIt) {
  for (const auto& [comparison, spelt] : {std::pair{Comparison::equal, "v = 1"},
                                          {Comparison::less, "v < 1"},
                                          {Comparison::greater, "v > 1"},
                                          {Comparison::not_equal, "v != 1"},
                                          {Comparison::less_equal, "v <= 1"},
                                          {Comparison::greater_equal, "v >= 1"}}) {
    Rule rule = pair();
    rule.predicates[0].constraints = {{"v", comparison, 1}};
    EXPECT_THAT(text_of(rule), HasSubstr("from T1(" + std::string(spelt) + ")"));
    meaning_of(text_of(rule));
  }
}

TEST(TRexRules, StatesOfOneTypeGetNamesOfTheirOwn) {
  Rule rule = pair();
  rule.predicates.push_back({2, {}, 1, 50, Selection::first});
  rule.predicates.push_back({1, {}, 2, 7, Selection::last});
  rule.composite.attributes = {{"x", of(Reference{2, Part::state, "v"})}};
  rule.consuming = {2, 3};
  const std::string text = text_of(rule);
  EXPECT_EQ(text,
            "assign 1 => T1, 2 => T2, 3 => T3\n"
            "define T3(x: int)\n"
            "from T1()\n"
            "  and each T2() within 1000 ms from T1\n"
            "  and first T2() as T2_2 within 50 ms from T2\n"
            "  and last T1() as T1_2 within 7 ms from T2_2\n"
            "where x = T2_2.v\n"
            "consuming T2_2, T1_2;\n");
  meaning_of(text);
}

TEST(TRexRules, NamesOfStatesDoNotHideTypes) {
  Rule rule = pair();
  rule.predicates.push_back({2, {}, 0, 50, Selection::each});
  rule.predicates.push_back({5, {}, 0, 50, Selection::each});
  const auto names = [](std::int32_t type) { return type == 5 ? "T2_2" : default_name(type); };
  const auto text = rule_text(rule, names);
  ASSERT_TRUE(text);
  EXPECT_THAT(text->text, HasSubstr("T2() as T2_3 within"));
  meaning_of(text->text);
}

TEST(TRexRules, AParameterStandsWithTheLastStateThatItMentions) {
  Rule rule = pair();
  const Tree own = of(Reference{1, Part::state, "v"});
  const Tree other = of(Reference{0, Part::state, "k"});
  rule.parameters = {
      {Comparison::less, Part::state, ValueType::integer, own,
       of(Operation::add, other, of(Operation::mul, of(Literal(-2)), of(Literal(3))))},
      {Comparison::greater, Part::state, ValueType::integer, other, own},
      {Comparison::equal, Part::state, ValueType::integer, other, of(Literal(1))}};
  const std::string text = text_of(rule);
  EXPECT_THAT(text, HasSubstr("from T1([int]k = 1)\n"));
  EXPECT_THAT(text, HasSubstr("T2([int]v < (T1.k + (-2 * 3)), T1.k > v) within"));
  meaning_of(text);
}

TEST(TRexRules, NegationsAndAggregatesHaveParametersOfTheirOwn) {
  Rule rule = pair();
  rule.negations = {{4, {}, {-1, 20, 1}}, {4, {}, {0, 0, 1}}};
  rule.aggregates = {{5, {{"w", Comparison::greater, 0}}, {1, 0, 0}, Function::max, "v"},
                     {5, {}, {-1, 9, 0}, Function::count, "v"}};
  const Tree state = of(Reference{0, Part::state, "k"});
  rule.parameters = {{Comparison::equal, Part::negation, ValueType::integer,
                      of(Reference{1, Part::negation, "n"}), state},
                     {Comparison::less, Part::aggregate, ValueType::integer,
                      of(Reference{0, Part::aggregate, "m"}), state}};
  rule.composite.attributes = {
      {"x", of(Operation::sub, of(Reference{0, Part::aggregate, ""}), state)},
      {"y", of(Reference{1, Part::aggregate, ""})}};
  const std::string text = text_of(rule);
  EXPECT_THAT(text, HasSubstr("and not T4() within 20 ms from T2\n"));
  EXPECT_THAT(text, HasSubstr("and not T4([int]n = T1.k) between T1 and T2\n"));
  EXPECT_THAT(text,
              HasSubstr("where x = (max(T5(w > 0, [int]m < T1.k).v between T2 and T1) - T1.k), "
                        "y = count(T5() within 9 ms from T1)\n"));
  meaning_of(text);
}

TEST(TRexRules, TypesHaveTheNamesThatTheyAreGiven) {
  Rule rule = pair();
  rule.predicates[1].type = -2;
  const auto text = rule_text(rule, [](std::int32_t type) {
    return type == 1 ? "Smoke" : type == 3 ? "Fire" : default_name(type);
  });
  ASSERT_TRUE(text);
  EXPECT_EQ(text->composite, "Fire");
  EXPECT_THAT(text->text, HasSubstr("assign 1 => Smoke, 3 => Fire\n"));
  EXPECT_THAT(text->text, HasSubstr("each T_2() within 1000 ms from Smoke"));
  meaning_of(text->text);
}

TEST(TRexRules, WhatCannotBeConsumedIsLeftOutWithANote) {
  Rule rule = pair();
  rule.consuming = {-1, 0, 1, 1, 7};
  const auto text = rule_text(rule, default_name);
  ASSERT_TRUE(text);
  EXPECT_THAT(text->text, HasSubstr("consuming T2;"));
  EXPECT_THAT(text->notes,
              ElementsAre(HasSubstr("state -1"), HasSubstr("terminator"), HasSubstr("state 7")));
}

TEST(TRexRules, WhatTheLanguageDoesNotHaveIsAnErrorThatNamesIt) {
  const Tree one = of(Literal(1));
  const auto problem = [](const std::function<void(Rule&)>& change) {
    Rule rule = pair();
    change(rule);
    return problem_of(rule);
  };
  EXPECT_THAT(problem([](Rule& r) { r.predicates.clear(); }), HasSubstr("no predicate"));
  EXPECT_THAT(problem([](Rule& r) { r.predicates[1].selection = Selection::all; }),
              HasSubstr("all events together"));
  EXPECT_THAT(problem([](Rule& r) { r.predicates[1].refers_to = 1; }), HasSubstr("no earlier one"));
  EXPECT_THAT(problem([](Rule& r) { r.predicates[1].refers_to = -1; }),
              HasSubstr("no earlier one"));
  EXPECT_THAT(problem([](Rule& r) { r.predicates[1].window = 0; }), HasSubstr("window of 0 ms"));
  EXPECT_THAT(problem([](Rule& r) { r.predicates[1].window = -5; }), HasSubstr("window of -5 ms"));
  EXPECT_THAT(problem([](Rule& r) { r.negations = {{4, {}, {1, 0, 1}}}; }), HasSubstr("itself"));
  EXPECT_THAT(problem([](Rule& r) { r.negations = {{4, {}, {-1, 5, 9}}}; }), HasSubstr("state 9"));
  EXPECT_THAT(problem([&](Rule& r) {
                r.composite.attributes = {{"x", of(Operation::conj, one, one)}};
              }),
              HasSubstr("`&`"));
  EXPECT_THAT(problem([](Rule& r) {
                r.composite.attributes = {{"x", of(Reference{0, Part::aggregate, ""})}};
              }),
              HasSubstr("aggregate 0"));
  EXPECT_THAT(problem([](Rule& r) {
                r.composite.attributes = {{"x", of(Reference{0, Part::negation, "v"})}};
              }),
              HasSubstr("outside of it"));
  EXPECT_THAT(problem([](Rule& r) {
                r.composite.attributes = {{"x", of(Reference{-1, Part::state, "v"})}};
              }),
              HasSubstr("state -1"));
  EXPECT_THAT(problem([&](Rule& r) {
                r.parameters = {{Comparison::equal, Part::state, ValueType::integer, one, one}};
              }),
              HasSubstr("restricts nothing"));
  EXPECT_THAT(problem([](Rule& r) {
                r.aggregates = {{5, {}, {-1, 5, 0}, Function::none, "v"}};
                r.composite.attributes = {{"x", of(Reference{0, Part::aggregate, ""})}};
              }),
              HasSubstr("without a function"));
  EXPECT_THAT(problem([](Rule& r) {
                r.predicates[0].constraints = {{"two words", Comparison::equal, 1}};
              }),
              HasSubstr("`two words` cannot be the name of an attribute"));
  EXPECT_THAT(problem([](Rule& r) {
                r.predicates[0].constraints = {
                    {"v", Comparison::equal, std::numeric_limits<float>::infinity()}};
              }),
              HasSubstr("infinity"));
}

TEST(TRexRules, ANumberIsFoundInTheNameThatItMakes) {
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  for (const std::int32_t number :
       {0, 1, -1, 2001, std::numeric_limits<std::int32_t>::max(), kLeast}) {
    EXPECT_EQ(number_in(default_name(number)), number);
  }
  EXPECT_EQ(default_name(kLeast), "T_2147483648");
  for (const char* name : {"", "T", "T_", "T-1", "T01", "T1x", "T_0", "T2147483648", "t1"}) {
    EXPECT_EQ(number_in(name), std::nullopt) << name;
  }
}

TEST(TRexRules, SubscriptionsThatAreEqualHaveOneText) {
  const Subscription a{20, {{"v", Comparison::less, 1}, {"s", Comparison::equal, "x"sv}}};
  const Subscription b{
      20,
      {{"s", Comparison::equal, "x"sv}, {"v", Comparison::less, 1}, {"v", Comparison::less, 1}}};
  EXPECT_EQ(subscription_text(a, default_name).value(), "T20(s = \"x\", v < 1)");
  EXPECT_EQ(subscription_text(b, default_name).value(), "T20(s = \"x\", v < 1)");
  EXPECT_EQ(subscription_text({20, {}}, default_name).value(), "T20()");
  EXPECT_FALSE(subscription_text({20, {{"and", Comparison::equal, 1}}}, default_name));
}

}  // namespace
}  // namespace gorgo::protocol::trex
