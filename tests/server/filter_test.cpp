#include "server/subscriptions/filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "server/subscriptions/filter_index.hpp"

namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

/// Whether an event of an unknown type satisfies a subscription.
bool matches(const std::string& text, std::vector<std::pair<std::string, Datum>> attributes,
             Timestamp timestamp = 0) {
  const auto parsed = Filter::parse(text, Schema());
  EXPECT_FALSE(parsed.diagnostics.failed()) << parsed.diagnostics.render();
  if (!parsed.filter) return false;
  OutputBatch batch;
  Schema schema;
  batch.schema = &schema;
  Extras names{"T", {}};
  for (const auto& [name, datum] : attributes) {
    names.names.push_back(name);
    batch.cells.push_back(datum);
  }
  const auto extras = std::make_shared<const Extras>(std::move(names));
  batch.extras = {&extras, 1};
  batch.rows.push_back({{1, 0}, timestamp, kNoType, 0, 0, OutputBatch::kPrimitive});
  return parsed.filter->matches(batch, batch.rows[0]);
}

/// Whether patterns of users who are no administrators are small enough, by the error of the text.
std::string problem_of(const std::string& text, Filter::Patterns patterns) {
  const auto parsed = Filter::parse(text, Schema(), patterns);
  return parsed.diagnostics.failed() ? parsed.diagnostics.render() : "";
}

TEST(Filter, PatternsTogetherHaveABoundWhereTheyMustBeSmall) {
  const std::string large = "T(matches(a, \"(\\\\pL{300})\"))";
  EXPECT_EQ(problem_of(large, Filter::Patterns::any), "");
  EXPECT_THAT(problem_of(large, Filter::Patterns::small), HasSubstr("too large together"));
  std::string one = "matches(a, \"(\\\\pL{20})\")", many = one;
  for (int i = 0; i < 2; ++i) many += " and " + one;
  EXPECT_EQ(problem_of("T(" + one + ")", Filter::Patterns::small), "");
  EXPECT_EQ(problem_of("T(" + many + ")", Filter::Patterns::any), "");
  EXPECT_THAT(problem_of("T(" + many + ")", Filter::Patterns::small),
              HasSubstr("too large together"));
}

TEST(Filter, ComparesIntsAndFloatsExactly) {
  const Datum big = Datum::of(std::int64_t{9007199254740993});
  EXPECT_FALSE(matches("T(v = 9007199254740992.0)", {{"v", big}}));
  EXPECT_TRUE(matches("T(v > 9007199254740992.0)", {{"v", big}}));
  EXPECT_TRUE(matches("T(v = 0)", {{"v", Datum::of(-0.0)}}));
}

TEST(Filter, MissingAttributesMakeComparisonsFalse) {
  EXPECT_FALSE(matches("T(v > 5)", {}));
  EXPECT_FALSE(matches("T(v != 5)", {}));
  EXPECT_TRUE(matches("T(not (v > 5))", {}));
  EXPECT_FALSE(matches("T(v + 1 = 6)", {{"w", Datum::of(std::int64_t{5})}}));
}

TEST(Filter, OverflowAndDivisionByZeroAreNoValue) {
  const Datum most = Datum::of(std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(matches("T(v + 1 > 0)", {{"v", most}}));
  EXPECT_FALSE(matches("T(v + 1 <= 0)", {{"v", most}}));
  EXPECT_FALSE(matches("T(1 / v != 7)", {{"v", Datum::of(std::int64_t{0})}}));
  EXPECT_TRUE(matches("T(7 / v = 3)", {{"v", Datum::of(std::int64_t{2})}}));
}

TEST(Filter, NanIsOnlyUnequal) {
  const Datum nan = Datum::of(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(matches("T(v != 1)", {{"v", nan}}));
  EXPECT_FALSE(matches("T(v < 1)", {{"v", nan}}));
  EXPECT_FALSE(matches("T(v >= 1)", {{"v", nan}}));
}

TEST(Filter, StringsBoolsAndTime) {
  EXPECT_TRUE(matches("T(s contains 'ar' and s < 'b')", {{"s", Datum::of("area")}}));
  EXPECT_TRUE(matches("T(on, not off)", {{"on", Datum::of(true)}, {"off", Datum::of(false)}}));
  EXPECT_TRUE(matches("T(timestamp >= 5 s)", {}, 5'000'000'000));
  EXPECT_FALSE(matches("T(timestamp > 5 s)", {}, 5'000'000'000));
}

TEST(Filter, ValuesOfAnUnexpectedTypeNeverMatch) {
  EXPECT_FALSE(matches("T(v = 5)", {{"v", Datum::of("5")}}));
  EXPECT_FALSE(matches("T(v != 5)", {{"v", Datum::of("5")}}));
  EXPECT_FALSE(matches("T(v)", {{"v", Datum::of(std::int64_t{1})}}));
}

TEST(Filter, EveryConditionMustHold) {
  const Datum five = Datum::of(std::int64_t{5});
  EXPECT_TRUE(matches("T(v > 4, v < 6)", {{"v", five}}));
  EXPECT_FALSE(matches("T(v > 4, v < 5)", {{"v", five}}));
  EXPECT_TRUE(matches("T(v > 9 or v = 5)", {{"v", five}}));
  EXPECT_TRUE(matches("T", {}));
}

std::string error_of(const std::string& text) {
  Schema schema;
  schema.add({.name = "Temp",
              .attributes = {{"area", ValueType::string},
                             {"value", ValueType::floating},
                             {"ok", ValueType::boolean}}});
  const auto parsed = Filter::parse(text, schema);
  if (parsed.filter) return "";
  const Diagnostic& first = parsed.diagnostics.list.front();
  return std::to_string(first.at.column) + ": " + first.message + "; " + first.hint;
}

TEST(FilterIndex, AnAttributeInBracketsEqualsFalseWithoutAValue) {
  Schema schema;
  schema.add({.name = "Switch", .attributes = {{"on", ValueType::boolean}}});
  const auto conditions = [&](const std::string& text) {
    return constant_conditions(*Filter::parse(text, schema).filter).size();
  };
  EXPECT_EQ(conditions("Switch(on = false)"), 1);
  EXPECT_EQ(conditions("Switch((on) = false)"), 0);
}

TEST(FilterCheck, KnownTypesAreChecked) {
  EXPECT_EQ(error_of("Temp(area = 'A1' and value + 1 > 5 and ok)"), "");
  EXPECT_THAT(error_of("Temp(vlaue > 5)"), HasSubstr("6: `Temp` has no attribute `vlaue`"));
  EXPECT_THAT(error_of("Temp(vlaue > 5)"), HasSubstr("`value`"));
  EXPECT_THAT(error_of("Temp(area > 5)"), HasSubstr("cannot compare string with int"));
  EXPECT_THAT(error_of("Temp(ok > true)"), HasSubstr("not defined for bool"));
  EXPECT_THAT(error_of("Temp(area + 1 = 2)"), HasSubstr("arithmetic on a value of type string"));
  EXPECT_THAT(error_of("Temp(value contains 'a')"), HasSubstr("float"));
}

TEST(FilterCheck, AttributesThatNoRuleReadsOfAnInferredTypeAreWarnedOf) {
  Schema schema;
  schema.add({.name = "Temp",
              .attributes = {{"value", ValueType::floating}},
              .origin = TypeOrigin::inferred});
  const auto parsed = Filter::parse("Temp(vlaue > 5)", schema);
  EXPECT_TRUE(parsed.filter);
  ASSERT_EQ(parsed.diagnostics.list.size(), 1u);
  EXPECT_EQ(parsed.diagnostics.list[0].severity, Severity::warning);
  EXPECT_THAT(parsed.diagnostics.list[0].message, HasSubstr("no rule reads `vlaue` of `Temp`"));
  EXPECT_THAT(parsed.diagnostics.list[0].hint, HasSubstr("`value`"));
}

TEST(FilterCheck, UnknownTypesAreNot) { EXPECT_EQ(error_of("Rain(anything > 5)"), ""); }

}  // namespace
}  // namespace gorgo::server
