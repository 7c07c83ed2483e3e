// language.md §6: aggregates, their types and places.
#include "bind_support.hpp"

namespace gorgo::language {
namespace {

std::string rule(std::string_view clauses) {
  return "event A(x: int, s: string); event T(x: int, v: int, f: float, s: string);\n"
         "define F() from A(x = $x) and " +
         std::string(clauses) + ";";
}

TEST(BindAggregates, ResultTypes) {
  EXPECT_EQ(line_of(rule("$t = Sum(T(x = $x).v within 5 from A)"), "$0 = "),
            "SUM(T(x = A.x).v within 5 ms from A): int");
  EXPECT_EQ(line_of(rule("$t = Max(T().f within 5 from A)"), "$0 = "),
            "MAX(T().f within 5 ms from A): float");
  EXPECT_EQ(line_of(rule("$t = Avg(T().v within 5 from A)"), "$0 = "),
            "AVG(T().v within 5 ms from A): float");
  EXPECT_EQ(line_of(rule("$t = Count(T().s within 5 from A)"), "$0 = "),
            "COUNT(T().s within 5 ms from A): int");
  EXPECT_EQ(line_of(rule("$t = Count(T() within 5 from A)"), "$0 = "),
            "COUNT(T() within 5 ms from A): int");
}

TEST(BindAggregates, BothSpellingsAreEqual) {
  const auto paper = described(rule("$t = Avg(T(x = $x, f > 1.5).f within 5 from A)"));
  EXPECT_EQ(paper, described(rule("$t = AVG(T.f([int]x = $x, f > 1.5)) within 5 from A")));
  EXPECT_THAT(paper, HasSubstr("$0 = AVG(T(x = A.x, f > 1.5).f within 5 ms from A)"));
}

TEST(BindAggregates, AComparisonBeforeTheNameIsAFilter) {
  EXPECT_EQ(described(rule("45 < $t = Avg(T().v within 5 from A)")),
            "event F();\n"
            "state 0: A(has x) as A\n"
            "$0 = AVG(T().v within 5 ms from A): float\n"
            "required $0\n"
            "filter 45 < $0\n");
}

TEST(BindAggregates, BareAggregatesAreNotRequired) {
  EXPECT_EQ(described(rule("(A.x > 1 or Max(T().v within 5 from A) > 80)")),
            "event F();\n"
            "state 0: A(has x) as A\n"
            "$0 = MAX(T().v within 5 ms from A): int\n"
            "filter A.x > 1 or $0 > 80\n");
}

TEST(BindAggregates, AreNumberedInTextOrder) {
  EXPECT_EQ(described(rule("$u > Count(T() within 1 from A) and Min(T().v within 2 from A) >"
                           " $u = Max(T().v within 3 from A)")),
            "event F();\n"
            "state 0: A(has x) as A\n"
            "$0 = COUNT(T() within 1 ms from A): int\n"
            "$1 = MIN(T().v within 2 ms from A): int\n"
            "$2 = MAX(T().v within 3 ms from A): int\n"
            "required $2\n"
            "filter $2 > $0\n"
            "filter $1 > $2\n");
}

TEST(BindAggregates, BetweenTwoStatesAndConditionsOnLaterOnes) {
  EXPECT_EQ(line_of(rule("last T(x = $x) within 5 from A and $t = Sum(T(v > B.v).v between A and T)"
                         " and each T() as B within 5 from A"),
                    "$0 = "),
            "SUM(T(v > B.v).v between A and T): int");
}

TEST(BindAggregates, OnlyNumbersAreAggregated) {
  EXPECT_THAT(messages(rule("$t = Sum(T().s within 5 from A)")),
              ElementsAre("2:44: `SUM` needs numbers, but `s` of `T` is string"));
  EXPECT_THAT(messages(rule("$t = Sum(T().timestamp within 5 from A)")),
              ElementsAre("2:44: `timestamp` cannot be aggregated"));
  EXPECT_THAT(messages(rule("$t = Sum(T().w within 5 from A) and $t > 5")),
              ElementsAre("2:44: type `T` has no attribute `w`"));
}

TEST(BindAggregates, ValuesStandOnlyInFiltersAndWhere) {
  EXPECT_THAT(messages(rule("$t = Count(T() within 5 from A) and each T(v > $t) within 5 from A")),
              ElementsAre("2:78: `$t` is the value of an aggregate, which is known only when the "
                          "sequence is complete"));
  EXPECT_THAT(messages(rule("$t = Count(T() within 5 from A) and not T(v > $t) within 5 from A")),
              ElementsAre("2:77: `$t` is the value of an aggregate, which is known only when the "
                          "sequence is complete"));
}

TEST(BindAggregates, NamesAreUnique) {
  EXPECT_THAT(messages(rule("$x = Count(T() within 5 from A)")),
              ElementsAre("2:31: `$x` is already bound by an attribute at 2:21"));
  EXPECT_THAT(messages(rule("$t = Count(T() within 5 from A) and $t = Count(T() within 6 from A)")),
              ElementsAre("2:67: `$t` already names the aggregate at 2:31"));
}

TEST(BindAggregates, TheComparedValueMustBeANumber) {
  EXPECT_THAT(messages(rule("A.s < $t = Count(T() within 5 from A)")),
              ElementsAre("2:31: `<` cannot compare `A.s` (string, 2:31) with `$t` (int, 2:37)"));
}

TEST(BindAggregates, InWhere) {
  EXPECT_EQ(line_of("event A(x: int); event T(v: int);"
                    "define F(a: float) from A() where a = Sum(T().v within 5 from A) / 2;",
                    "a := "),
            "to_float($0 / 2)");
}

}  // namespace
}  // namespace gorgo::language
