#include "plan/warnings.hpp"

#include "plan_support.hpp"

namespace gorgo::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kTypes =
    "event A(v: float, s: string, n: int, on: bool); event B(v: float, s: string, n: int);";

/// The messages about rules over A and B.
std::vector<std::string> warned(const std::string& rules) {
  const Planned planned(kTypes + rules);
  std::vector<std::string> messages;
  for (const auto& d : warnings(planned.plans, {}, planned.schema, planned.source).list) {
    EXPECT_EQ(d.severity, Severity::warning);
    EXPECT_EQ(d.file, "plant.tesla");
    EXPECT_FALSE(d.hint.empty()) << d.message;
    messages.push_back(d.message);
  }
  return messages;
}

std::vector<std::string> on_pattern(const std::string& pattern) {
  return warned("rule r: define F() from " + pattern + ";");
}

std::string never(const std::string& why) { return "rule `r` can never fire: " + why; }

TEST(Warnings, TheyStandAtTheirRule) {
  const Planned planned("event A(v: int);\n\n  rule r: define F() from A(v = 1, v = 2);");
  EXPECT_EQ(warnings(planned.plans, {}, planned.schema, planned.source).render(),
            "plant.tesla:3:3: warning: rule `r` can never fire: no value satisfies `v = 1` and"
            " `v = 2`\n"
            "    rule r: define F() from A(v = 1, v = 2);\n"
            "    ^~~~\n"
            "  hint: conditions must all hold; write `or` where one of them is enough\n");
}

/// What to do about the only warning of a pattern.
std::string hint_on(const std::string& pattern) {
  const Planned planned(kTypes + ("rule r: define F() from " + pattern + ";"));
  const auto list = warnings(planned.plans, {}, planned.schema, planned.source).list;
  return list.size() == 1 ? list[0].hint : std::to_string(list.size()) + " warnings";
}

TEST(Warnings, TheHintFitsOneConditionOrSeveral) {
  EXPECT_EQ(hint_on("A(n = 2.5)"), "correct the condition, or the type of its attribute");
  EXPECT_EQ(hint_on("A(n > 9223372036854775807, s = \"a\")"),
            "correct the condition, or the type of its attribute");
  EXPECT_EQ(hint_on("A(1 > 2, n = 1)"), "correct the condition; it compares constants alone");
  const std::string several = "conditions must all hold; write `or` where one of them is enough";
  EXPECT_EQ(hint_on("A(n > 5, n < 3)"), several);
  EXPECT_EQ(hint_on("A(n > 5 and n < 3)"), several);
}

TEST(Warnings, ContradictoryConstants) {
  EXPECT_THAT(on_pattern("A(v > 5, v < 3)"),
              ElementsAre(never("no value satisfies `v > 5` and `v < 3`")));
  EXPECT_THAT(on_pattern("A(s = \"a\", s = \"b\")"),
              ElementsAre(never("no value satisfies `s = \"a\"` and `s = \"b\"`")));
  EXPECT_THAT(on_pattern("A(on, not on)"),
              ElementsAre(never("no value satisfies `on` and `not on`")));
  EXPECT_THAT(on_pattern("A(v = 7, (v < 3 or v > 8))"),
              ElementsAre(never("no value satisfies `v = 7` and `v < 3 or v > 8`")));
  EXPECT_THAT(on_pattern("A(s = \"abc\", s contains \"x\")"),
              ElementsAre(never("no value satisfies `s = \"abc\"` and `s contains \"x\"`")));
  EXPECT_THAT(on_pattern("A(1 > 2)"), ElementsAre(never("`1 > 2` is never true")));
}

TEST(Warnings, OnlyTheConditionsThatContradictAreNamed) {
  EXPECT_THAT(on_pattern("A(v > 0, v > 5, v != 9, v < 3, s > \"k\")"),
              ElementsAre(never("no value satisfies `v > 5` and `v < 3`")));
}

TEST(Warnings, IntsHaveNothingBetweenNeighbours) {
  EXPECT_THAT(on_pattern("A(n > 3, n < 4)"),
              ElementsAre(never("no value satisfies `n > 3` and `n < 4`")));
  EXPECT_THAT(on_pattern("A(n = 3.5)"), ElementsAre(never("no value satisfies `n = 3.5`")));
  EXPECT_THAT(on_pattern("A(n > 9223372036854775807)"),
              ElementsAre(never("no value satisfies `n > 9223372036854775807`")));
  EXPECT_THAT(on_pattern("A(v > 3, v < 4)"), IsEmpty());
}

TEST(Warnings, AFilterContradictsItsState) {
  EXPECT_THAT(on_pattern("A(v > 5) and A.v < 3"),
              ElementsAre(never("no value satisfies `v > 5` and `A.v < 3`")));
  EXPECT_THAT(on_pattern("A(v > 5) and last B() within 5 from A and B.v < 3"), IsEmpty());
}

TEST(Warnings, WhatSomeValueSatisfiesIsFine) {
  EXPECT_THAT(on_pattern("A(v >= 3, v <= 3, s > \"a\", s < \"b\", n > 2, n < 4, n != 5)"),
              IsEmpty());
  EXPECT_THAT(on_pattern("A(s contains \"a\", s contains \"b\", not (s contains \"c\"))"),
              IsEmpty());
  EXPECT_THAT(on_pattern("A(s != \"\", s < \"a\")"), IsEmpty());
  EXPECT_THAT(on_pattern("A(v = 3 or v = 4, v != 3)"), IsEmpty());
  // A missing value satisfies both.
  EXPECT_THAT(on_pattern("A(not (v > 5), not (v <= 5))"), IsEmpty());
  // NaN does.
  EXPECT_THAT(on_pattern("A(v != 5, not (v > 5), not (v < 5), on)"), IsEmpty());
  EXPECT_THAT(on_pattern("A(v + 1 > 5, v + 1 < 3)"), IsEmpty());
}

TEST(Warnings, EmptyIntervals) {
  EXPECT_THAT(on_pattern("A() and last B() within 1 ns from A"),
              ElementsAre(never("no time lies `within 1 ns from A`")));
  EXPECT_THAT(on_pattern("A() and not B() within 1 ns from A"),
              ElementsAre("a negation of rule `r` excludes nothing: no time lies"
                          " `within 1 ns from A`"));
  EXPECT_THAT(on_pattern("A() and last B() within 2 ns from A and not B() between A and B"),
              ElementsAre("a negation of rule `r` excludes nothing: no time lies"
                          " `between A and B`"));
  EXPECT_THAT(on_pattern("A() and last B() within 2 ns from A and last B() as C within 2 ns from A"
                         " and not A() between B and C"),
              ElementsAre("a negation of rule `r` excludes nothing: no time lies"
                          " `between B and C`"));
  EXPECT_THAT(on_pattern("A() and last B() within 3 ns from A and not B() between A and B"),
              IsEmpty());
}

TEST(Warnings, NegationsAndAggregatesOverNothing) {
  EXPECT_THAT(on_pattern("A() and not B(v > 5, v < 3) within 5 from A"),
              ElementsAre("a negation of rule `r` excludes nothing: no value satisfies `v > 5` and"
                          " `v < 3`"));
  EXPECT_THAT(on_pattern("A() and 3 < $t = Count(B(n = 3, n = 4) within 5 from A)"),
              ElementsAre("an aggregate of rule `r` is over nothing: no value satisfies `n = 3` and"
                          " `n = 4`"));
}

TEST(Warnings, EachStatesThatNothingLinks) {
  EXPECT_THAT(on_pattern("A() and each B() within 5 from A and each B() as C within 5 from B"),
              ElementsAre("rule `r` combines each `B` with each `C`, and no condition links them"));
  EXPECT_THAT(
      on_pattern("A(n = $x) and each B(n = $x) within 5 from A and each B() as C within 5 from A"),
      ElementsAre("rule `r` combines each `B` with each `C`, and no condition links them"));
}

TEST(Warnings, LinkedEachStatesAreFine) {
  EXPECT_THAT(on_pattern("A(n = $x) and each B(n = $x) within 5 from A and"
                         " each B(n = $x) as C within 5 from A"),
              IsEmpty());
  EXPECT_THAT(on_pattern("A() and each B() within 5 from A and each B() as C within 5 from A"
                         " and B.n < C.n"),
              IsEmpty());
  EXPECT_THAT(on_pattern("A() and each B() within 5 from A and last B() as C within 5 from A"),
              IsEmpty());
}

TEST(Warnings, FloatsComparedForEquality) {
  EXPECT_THAT(on_pattern("A(v = 0.1)"),
              ElementsAre("rule `r` compares floats with `=`: `v = 0.1`"));
  EXPECT_THAT(on_pattern("A(v = $x) and last B(v = $x) within 5 from A and A.v + 1 = B.v"),
              ElementsAre("rule `r` compares floats with `=`: `v = A.v` and `A.v + 1.0 = B.v`"));
  EXPECT_THAT(on_pattern("A(v = 45, v = 45.0, n = $x) and last B(n = $x, v = 3) within 5 from A"
                         " and Count(B() within 5 from A) = 9"),
              IsEmpty());
}

TEST(Warnings, CyclesThroughAddedRules) {
  const std::string cycle =
      "rule d: define D() from C() and last A() within 5 from C; rule c: define C() from D();";
  EXPECT_THAT(warned(cycle), ElementsAre("the rules feed each other in a cycle: `D -> C -> D`"));
  EXPECT_THAT(warned("rule e: define E() from E();"),
              ElementsAre("the rules feed each other in a cycle: `E -> E`"));
  EXPECT_THAT(warned("rule c: define C() from A(); rule d: define D() from C();"), IsEmpty());

  EXPECT_THAT(warned("rule e: define E() from A() and not E() within 5 from A;"), IsEmpty())
      << "it only limits itself";
  EXPECT_THAT(warned("rule e: define E() from A() and last F() within 5 from A;"
                     "rule f: define F() from E();"),
              IsEmpty());

  const Planned first("rule d: define D() from C();");
  const Planned second("rule c: define C() from D(); rule e: define E() from C();", first.schema);
  const auto list = warnings(second.plans, first.plans, second.schema, second.source).list;
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].at.column, 1U);
  const Planned third("rule f: define F() from D();", second.schema);
  std::vector<const Plan*> others = first.plans;
  others.insert(others.end(), second.plans.begin(), second.plans.end());
  EXPECT_THAT(warnings(third.plans, others, third.schema, third.source).list, IsEmpty());
}

TEST(Warnings, AWindowAsLongAsThePeriodLosesWhatComesAtAnInstant) {
  const std::vector<std::string> expected = {
      "the window of rule `r` is as long as its period: an event exactly at an instant of the timer"
      " is in no window, because windows do not include their ends"};
  const auto on_timer = [](const std::string& rest) {
    return on_pattern("Timer(every = 1 h) and " + rest);
  };
  EXPECT_EQ(on_timer("each A() within 60 min from Timer"), expected);
  EXPECT_EQ(on_timer("not A() within 1 h from Timer"), expected);
  EXPECT_EQ(on_timer("Count(A() within 1 h from Timer) > 3"), expected);
  EXPECT_THAT(on_timer("last A() within 3600000000001 ns from Timer"), IsEmpty());
  EXPECT_THAT(on_timer("last A() within 2 h from Timer and last B() within 1 h from A"), IsEmpty());
  EXPECT_EQ(on_pattern("Timer(hour = 9) and each A() within 24 h from Timer"), expected);
  EXPECT_EQ(on_pattern("Timer(minute = 9) and each A() within 1 h from Timer"), expected);
  EXPECT_EQ(on_pattern("Timer(second = 9) and each A() within 1 min from Timer"), expected);
  EXPECT_THAT(on_pattern("Timer(minute = 9) and each A() within 24 h from Timer"), IsEmpty());
}

TEST(Warnings, ARuleThatReadsAsIfItLookedAhead) {
  const std::string types = "event Order(id: int); event Shipped(id: int); event Paid(id: int); ";
  const std::string pattern = "Order(id = $i) and last Shipped(id = $i)";
  const auto rule = [&](const std::string& name, const std::string& from) {
    return warned(types + "rule r: define " + name + "() from " + from + ";");
  };
  const std::string reads =
      "rule `r` reads as if `Shipped` came after `Order`, but a rule looks back: ";
  const auto expected = ElementsAre(reads + "it lies before");
  const std::string window = " within 1 h from Order";
  EXPECT_THAT(rule("F", pattern + window + " and Shipped.timestamp > Order.timestamp"), expected);
  EXPECT_THAT(rule("F", pattern + window + " and Order.timestamp <= Shipped.timestamp"), expected);
  EXPECT_THAT(rule("F", pattern + window + " and Shipped.timestamp - Order.timestamp < 5 min"),
              expected);
  EXPECT_THAT(rule("F", "Order(id = $i) and each Shipped(timestamp > Order.timestamp)" + window),
              expected);
  EXPECT_THAT(rule("OrderThenShipped", pattern + window), expected);
  EXPECT_THAT(rule("order_followed_by_shipped", pattern + window), expected);
  EXPECT_THAT(rule("F", pattern + " as NextStep" + window),
              ElementsAre("rule `r` reads as if `NextStep` came after `Order`, but a rule looks "
                          "back: it lies before"));
  EXPECT_THAT(rule("F", pattern + window + " and last Paid() within 1 h from Shipped and " +
                            "Paid.timestamp > Order.timestamp"),
              ElementsAre("rule `r` reads as if `Paid` came after `Order`, but a rule looks back: "
                          "it lies before"));
}

TEST(Warnings, ARuleThatLooksBackAsItSays) {
  const std::string types = "event Order(id: int); event Shipped(id: int); ";
  const auto rule = [&](const std::string& name, const std::string& rest) {
    return warned(types + "rule r: define " + name +
                  "() from Shipped(id = $i) and last Order(id = $i)" + rest + ";");
  };
  const std::string window = " within 1 h from Shipped";
  EXPECT_THAT(rule("OrderThenShipped", window), IsEmpty());
  EXPECT_THAT(rule("F", window + " and Shipped.timestamp - Order.timestamp < 5 min"), IsEmpty());
  EXPECT_THAT(rule("F", window + " and abs(Order.timestamp - Shipped.timestamp) < 5 min"),
              IsEmpty());
  EXPECT_THAT(rule("F", " as Nexus" + window), IsEmpty());
  EXPECT_THAT(rule("F", " as B" + window + " and last Order() as C" + window +
                            " and C.timestamp > B.timestamp"),
              IsEmpty())
      << "both look back from the terminator, so that either may be the later one";
}

}  // namespace
}  // namespace gorgo::plan
