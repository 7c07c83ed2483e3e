// language.md §5: the types of expressions, and `where`.
#include "bind_support.hpp"

namespace gorgo::language {
namespace {

constexpr std::string_view kTypesOfValues =
    "event T(i: int, f: float, b: bool, s: string); event U(i: int, f: float);\n";

/// The filter that a text becomes.
std::string filter(std::string_view condition) {
  return line_of(std::string(kTypesOfValues) + "define F() from T(i = $i, b = $b) and (" +
                     std::string(condition) + ");",
                 "filter ");
}

std::vector<std::string> refused(std::string_view condition) {
  return messages(std::string(kTypesOfValues) + "define F() from T(" + std::string(condition) +
                  ");");
}

TEST(BindValues, ArithmeticConvertsIntsThatMeetFloats) {
  EXPECT_EQ(filter("T.i + 1 * T.i > 0"), "T.i + 1 * T.i > 0");
  EXPECT_EQ(filter("T.i + T.f > 0"), "to_float(T.i) + T.f > 0");
  EXPECT_EQ(filter("T.f / 2 > 0"), "T.f / 2.0 > 0");
  EXPECT_EQ(filter("$i - 1.5 > 0"), "to_float(T.i) - 1.5 > 0");
}

TEST(BindValues, ComparisonsDoNotConvert) {
  EXPECT_EQ(filter("T.i = T.f"), "T.i = T.f");
  EXPECT_EQ(filter("T.i >= 2.5"), "T.i >= 2.5");
}

TEST(BindValues, UnaryMinus) {
  EXPECT_EQ(filter("-T.i < -5"), "-T.i < -5");
  EXPECT_EQ(filter("T.i > -9223372036854775808"), "T.i > -9223372036854775808");
  EXPECT_EQ(filter("-(T.f) < -0.5"), "-T.f < -0.5");
  EXPECT_THAT(refused("-s = 'x'"), ElementsAre("2:20: `s` is string, but `-` needs numbers"));
}

TEST(BindValues, LogicOnConditions) {
  EXPECT_EQ(filter("T.b and not $b or T.i = 1"), "T.b and not T.b or T.i = 1");
  EXPECT_EQ(filter("T.b = true"), "T.b = true");
  EXPECT_THAT(refused("i"), ElementsAre("2:19: `i` is int, but a condition is needed here"));
  EXPECT_THAT(refused("not s"), ElementsAre("2:23: `s` is string, but a condition is needed here"));
}

TEST(BindValues, TimesAreInts) {
  EXPECT_EQ(filter("T.timestamp / 2 > 5 min"), "T.timestamp / 2 > 300000000000");
  EXPECT_EQ(line_of(std::string(kTypesOfValues) + "define F() from T(timestamp > 5);", "state 0: "),
            "T(timestamp > 5) as T");
  EXPECT_THAT(refused("timestamp = 'x'"),
              ElementsAre("2:29: `=` cannot compare `timestamp` (int, 2:19) with `\"x\"` (string, "
                          "2:31)"));
  EXPECT_EQ(hint_of(std::string(kTypesOfValues) + "define F() from T(timestamp > 'x');"),
            "an instant is written `time(\"2026-03-29T01:00:00Z\")`");
}

TEST(BindValues, TheTimeMayBeBound) {
  EXPECT_EQ(described("define F() from A(timestamp = $t) and each B(timestamp > $t - 5)"
                      " within 1 from A;"),
            "event F();\n"
            "state 0: A() as A\n"
            "state 1: each B(timestamp > A.timestamp - 5) as B within 1 ms from A\n");
}

TEST(BindValues, MismatchesNameBothTypesAndPlaces) {
  EXPECT_THAT(refused("i = s"),
              ElementsAre("2:21: `=` cannot compare `i` (int, 2:19) with `s` (string, 2:23)"));
  EXPECT_THAT(refused("b > 5"),
              ElementsAre("2:21: `>` cannot compare `b` (bool, 2:19) with `5` (int, 2:23)"));
  EXPECT_THAT(refused("b < true"), ElementsAre("2:21: `<` cannot compare bools: `b` (bool, 2:19) "
                                               "and `true` (bool, 2:23)"));
  EXPECT_THAT(refused("i contains 5"), ElementsAre("2:21: `contains` cannot compare `i` (int, "
                                                   "2:19) with `5` (int, 2:30)"));
}

TEST(BindValues, NoArithmeticOnStringsAndBools) {
  EXPECT_THAT(refused("s + 1 > b * 2"), ElementsAre("2:19: `s` is string, but `+` needs numbers",
                                                    "2:27: `b` is bool, but `*` needs numbers"));
}

TEST(BindValues, StatedTypesAreChecked) {
  EXPECT_EQ(described(std::string(kTypesOfValues) + "define F() from T([int]i > 3, [bool]b);"),
            "event F();\n"
            "state 0: T(i > 3, b) as T\n");
  EXPECT_THAT(refused("[float]i > 3"), ElementsAre("2:26: `i` is int, not float"));
  EXPECT_THAT(refused("[string]i = $x"), ElementsAre("2:27: `i` is int, not string"));
}

std::string where(std::string_view attributes, std::string_view assignments) {
  return std::string(kTypesOfValues) + "define F(" + std::string(attributes) +
         ") from T(s = $s) where " + std::string(assignments) + ";";
}

TEST(BindWhere, ValuesAreConvertedToTheirAttribute) {
  EXPECT_EQ(line_of(where("a: float", "a = T.i"), "a := "), "to_float(T.i)");
  EXPECT_EQ(line_of(where("a: int", "a = T.f"), "a := "), "to_int(T.f)");
  EXPECT_EQ(line_of(where("a: float", "a = 3"), "a := "), "3.0");
  EXPECT_EQ(line_of(where("a: string", "a = $s"), "a := "), "T.s");
  EXPECT_EQ(line_of(where("a: bool", "a = T.b"), "a := "), "T.b");
  EXPECT_THAT(messages(where("a: string", "a = T.i")),
              ElementsAre("2:46: `a` is string, but `T.i` is int"));
  EXPECT_THAT(messages(where("a: int", "a = T.b")),
              ElementsAre("2:43: `a` is int, but `T.b` is bool"));
}

TEST(BindWhere, AssignmentsStandInTheOrderOfTheAttributes) {
  const BoundFile bound = compile_text(where("a: int, c: string", "c = $s and a = T.i"));
  ASSERT_EQ(bound.rules.size(), 1u);
  ASSERT_EQ(bound.rules[0].assignments.size(), 2u);
  EXPECT_EQ(bound.rules[0].assignments[0].type, ValueType::integer);
  EXPECT_EQ(bound.rules[0].assignments[1].type, ValueType::string);
}

TEST(BindWhere, EveryAttributeGetsOneValue) {
  EXPECT_THAT(messages(where("a: int, c: int", "a = 1, a = 2")),
              ElementsAre("2:18: attribute `c` of `F` gets no value",
                          "2:54: `a` already has a value at 2:47"));
  const auto text = where("measuredTemp: float", "mesuredTemp = T.f");
  EXPECT_THAT(messages(text), ElementsAre("2:10: attribute `measuredTemp` of `F` gets no value",
                                          "2:52: `F` has no attribute `mesuredTemp`"));
  EXPECT_EQ(compile_text(text).diagnostics.list[1].hint, "did you mean `measuredTemp`?");
  EXPECT_THAT(messages(std::string(kTypesOfValues) + "define F(a: int) from T();"),
              ElementsAre("2:10: attribute `a` of `F` gets no value"));
}

TEST(BindWhere, ThereIsNoNull) {
  for (const std::string word : {"null", "NULL"}) {
    EXPECT_THAT(hint_of(where("a: int", "a = " + word)), testing::StartsWith("there is no `null`"));
    EXPECT_THAT(hint_of(where("a: int", "a = T." + word)),
                testing::StartsWith("there is no `null`"));
  }
}

TEST(BindWhere, AFunctionOfOneNameWithAnAggregateNamesBoth) {
  EXPECT_EQ(
      hint_of(where("a: int", "a = max(T.i)")),
      "write `max(a, b, ...)`; for events write `max(Type(...).attribute within ... from ...)`");
  EXPECT_EQ(hint_of(where("a: int", "a = mod(T.i)")), "write `mod(a, b)`");
}

TEST(BindWhere, OnlyStatesAndParametersHaveValues) {
  EXPECT_THAT(messages(where("a: int", "a = i")),
              ElementsAre("2:43: `i` stands outside a predicate's brackets, so it needs a state"));
  EXPECT_THAT(messages(where("a: int", "a = X.i")),
              ElementsAre("2:43: no state of this rule is named `X`"));
}

TEST(BindWhere, TRexSpellingLeavesOutAttributesWithoutValue) {
  constexpr std::string_view kText =
      "event A(x: int); Assign 1 => A Define F(a: int, b: float) From A() Where a := A.x;";
  EXPECT_THAT(messages(kText),
              ElementsAre("1:49: warning: attribute `b` of `F` is left out: `Where` gives it no "
                          "value"));
  EXPECT_EQ(type_in(kText, "F"), "event F(a: int);");
  EXPECT_EQ(compile_text(kText).rules.at(0).assignments.size(), 1u);
}

}  // namespace
}  // namespace gorgo::language
