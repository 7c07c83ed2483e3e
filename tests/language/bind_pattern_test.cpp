// language.md §3 and §4.2: states, references, windows, bindings, negations.
#include "bind_support.hpp"

namespace gorgo::language {
namespace {

/// Types for the patterns below.
constexpr std::string_view kTypes =
    "event A(x: int, y: int, on: bool); event B(x: int, y: int); event C(x: int, s: string);\n";

std::string types(std::string_view rule) { return std::string(kTypes) + std::string(rule); }

TEST(BindPattern, StatesFormATree) {
  EXPECT_EQ(described(types("define F() from A() and each B() within 5 from A"
                            " and last C() as K within 2 s from A and first B() as B2 within 1 min"
                            " from K;")),
            "event F();\n"
            "state 0: A() as A\n"
            "state 1: each B() as B within 5 ms from A\n"
            "state 2: last C() as K within 2 s from A\n"
            "state 3: first B() as B2 within 1 min from K\n");
}

TEST(BindPattern, SelectionsOfSeveral) {
  EXPECT_EQ(line_of(types("define F() from A() and 3-last B() within 5 from A;"), "state 1: "),
            "3-last B() as B within 5 ms from A");
  EXPECT_EQ(line_of(types("define F() from A() and 2-first B() within 5 from A;"), "state 1: "),
            "2-first B() as B within 5 ms from A");
}

TEST(BindPattern, ASecondUnaliasedStateIsAnError) {
  EXPECT_THAT(messages(types("define F() from A() and each A() within 5 from A;")),
              ElementsAre("2:30: a second state of type `A` needs an alias"));
  EXPECT_THAT(messages(types("define F() from A() and each B() as A within 5 from A;")),
              ElementsAre("2:37: a state named `A` stands already at 2:17"));
  EXPECT_THAT(messages(types("define F() from A() and each A() as A2 within 5 from A;")),
              IsEmpty());
}

TEST(BindPattern, AnAmbiguousStateNeedsItsAlias) {
  EXPECT_THAT(messages(types("define F() from A() as P and each A() as Q within 5 from A;")),
              ElementsAre("2:58: `A` is ambiguous: `P` and `Q` are states of this type"));
}

TEST(BindPattern, UnknownStatesGetTheClosestName) {
  constexpr std::string_view kText = "define F() from Smoke() and each Temp() within 5 from Smoek;";
  EXPECT_THAT(messages(kText), ElementsAre("1:55: no state of this rule is named `Smoek`"));
  EXPECT_EQ(hint_of(kText), "did you mean `Smoke`?");
  EXPECT_EQ(hint_of("define F() from Smoke() and each Temp() within 5 from X;"),
            "the states are `Smoke` and `Temp`");
  EXPECT_EQ(hint_of("define F() from Smoke() as S and each Temp() within 5 from Smoke;"),
            "the state of this type is named `S`");
}

TEST(BindPattern, WindowsReferToEarlierStates) {
  EXPECT_THAT(messages(types("define F() from A() and each B() within 5 from C"
                             " and each C() within 5 from A;")),
              ElementsAre("2:48: the state `C` does not come earlier in the text"));
  EXPECT_THAT(messages(types("define F() from A() and each B() within 5 from B;")),
              ElementsAre("2:48: the state `B` does not come earlier in the text"));
  EXPECT_THAT(messages(types("define F() from A() and not B() between A and C"
                             " and each C() within 5 from A;")),
              ElementsAre("2:47: the state `C` does not come earlier in the text"));
}

TEST(BindPattern, NothingLiesBetweenAStateAndItself) {
  EXPECT_THAT(messages(types("define F() from A() and not B() between A and A;")),
              ElementsAre("2:47: nothing lies between `A` and itself"));
}

TEST(BindPattern, WindowsAreNotEmpty) {
  EXPECT_THAT(messages(types("define F() from A() and each B() within 0 from A"
                             " and not C() within 0 s from A and Count(C() within 0 from A) > 1;")),
              ElementsAre("2:34: the window is empty: its width must be greater than 0",
                          "2:62: the window is empty: its width must be greater than 0",
                          "2:94: the window is empty: its width must be greater than 0"));
}

TEST(BindPattern, WindowsSaturate) {
  EXPECT_EQ(
      line_of(types("define F() from A() and each B() within 200000 days from A;"), "state 1: "),
      "each B() as B within 9223372036854775807 ns from A");
}

TEST(BindPattern, OnlyAbsenceLooksForward) {
  EXPECT_EQ(line_of(types("define F() from A() and not B() within 5 after A;"), "not "),
            "B() within 5 ms after A, tested after state 0");
  const auto text =
      types("define F() from A() and each C() within 5 from A and not B() within 5 after C;");
  EXPECT_THAT(messages(text),
              ElementsAre("2:77: `within ... after` looks forward, to events that come later; only "
                          "the absence of events after the terminator can be waited for"));
  EXPECT_EQ(hint_of(text),
            "write `after A`, or look backward with `within ... from` or `between ... and`");
  EXPECT_THAT(messages(types("define F() from A() and Count(B() within 5 after A) > 1;")),
              ElementsAre("2:35: an aggregate cannot look forward with `after`"));
}

TEST(BindPattern, TheFirstTopLevelEqualityBinds) {
  EXPECT_EQ(described(types("define F() from A(y > $p, x = $p, on) and each B(x = $p)"
                            " within 5 from A;")),
            "event F();\n"
            "state 0: A(has x, y > x, on) as A\n"
            "state 1: each B(x = A.x) as B within 5 ms from A\n");
}

TEST(BindPattern, BothArrowsAndConjunctionsBind) {
  EXPECT_EQ(line_of(types("define F() from A((x => $p and y = $q) and on);"), "state 0: "),
            "A(has x, has y, on) as A");
  EXPECT_EQ(line_of(types("define F() from A([int]x = $p);"), "state 0: "), "A(has x) as A");
}

TEST(BindPattern, ASecondEqualityInTheSamePredicateTests) {
  EXPECT_EQ(line_of(types("define F() from A(x = $p, y = $p);"), "state 0: "),
            "A(has x, y = x) as A");
}

TEST(BindPattern, ALaterStateBindsWhatNoEarlierOneDoes) {
  EXPECT_EQ(described(types("define F() from A() and each B(x = $p) within 5 from A"
                            " and last C(x != $p) within 5 from B;")),
            "event F();\n"
            "state 0: A() as A\n"
            "state 1: each B(has x) as B within 5 ms from A\n"
            "state 2: last C(x != B.x) as C within 5 ms from B\n");
}

TEST(BindPattern, AnArrowOnABoundParameterIsAnError) {
  EXPECT_THAT(messages(types("define F() from A(x = $p, y => $p);")),
              ElementsAre("2:29: `=>` binds, but `$p` is already bound at 2:21"));
  EXPECT_THAT(messages(types("define F() from A(x = $p) and each B(x => $p) within 5 from A;")),
              ElementsAre("2:40: `=>` binds, but `$p` is already bound at 2:21"));
}

TEST(BindPattern, NothingIsBoundInsideOrAndNot) {
  EXPECT_THAT(messages(types("define F() from A(x = $p or on);")),
              ElementsAre("2:23: nothing binds the parameter `$p`"));
  EXPECT_THAT(messages(types("define F() from A(not (x = $p));")),
              ElementsAre("2:28: nothing binds the parameter `$p`"));
  EXPECT_THAT(messages(types("define F() from A(x => $p or on);")),
              ElementsAre("2:21: nothing can be bound here, so `=>` has no meaning"));
}

TEST(BindPattern, NothingIsBoundInNegationsAndAggregates) {
  EXPECT_THAT(messages(types("define F() from A() and not B(x => $p) within 5 from A;")),
              ElementsAre("2:33: nothing can be bound here, so `=>` has no meaning"));
  EXPECT_THAT(messages(types("define F() from A() and not B(x = $p) within 5 from A;")),
              ElementsAre("2:35: nothing binds the parameter `$p`"));
  EXPECT_THAT(messages(types("define F() from A() and Count(B(x = $p) within 5 from A) > 1;")),
              ElementsAre("2:37: nothing binds the parameter `$p`"));
}

TEST(BindPattern, UnknownParametersGetTheClosestNameOnce) {
  const auto text = types(
      "define F() from A(x = $tank) and each B(x = $tnak or y > $tnak)"
      " within 5 from A;");
  EXPECT_THAT(messages(text), ElementsAre("2:45: nothing binds the parameter `$tnak`"));
  EXPECT_EQ(hint_of(text), "did you mean `$tank`?");
}

TEST(BindPattern, AParameterCannotBeUsedBeforeItsState) {
  EXPECT_THAT(messages(types("define F() from A(x > $p) and each B(x = $p) within 5 from A;")),
              ElementsAre("2:23: `$p` is used before it is bound: `B` binds it at 2:40"));
}

TEST(BindPattern, AStateUsesEarlierStatesAndItself) {
  EXPECT_EQ(line_of(types("define F() from A() and each B(x > A.x, B.y < 3) within 5 from A;"),
                    "state 1: "),
            "each B(x > A.x, y < 3) as B within 5 ms from A");
  EXPECT_THAT(messages(types("define F() from A(x > B.x) and each B() within 5 from A;")),
              ElementsAre("2:23: `B.x` belongs to a state that comes later in the text"));
}

TEST(BindPattern, NegationsAreCompletedByTheirLatestState) {
  constexpr std::string_view kRule =
      "define F() from A(x = $a) and not B(%) within 5 from A"
      " and each C(x = $c) within 5 from A;";
  const auto with = [&](std::string_view condition) {
    std::string text(kRule);
    text.replace(text.find('%'), 1, condition);
    return line_of(types(text), "not ");
  };
  EXPECT_EQ(with("x = $a"), "B(x = A.x) within 5 ms from A, tested after state 0");
  EXPECT_EQ(with("x = $c"), "B(x = C.x) within 5 ms from A, tested after state 1");
  EXPECT_EQ(with("x = C.x + 1"), "B(x = C.x + 1) within 5 ms from A, tested after state 1");
  EXPECT_EQ(line_of(types("define F() from A() and each C() within 5 from A"
                          " and not B() between A and C;"),
                    "not "),
            "B() between A and C, tested after state 1");
}

TEST(BindPattern, FiltersMayUseAnyState) {
  EXPECT_EQ(line_of(types("define F() from A(x = $a) and C.x > $a"
                          " and each C() within 5 from A;"),
                    "filter "),
            "C.x > A.x");
}

TEST(BindPattern, OutsideBracketsAttributesNeedAState) {
  const auto text = types("define F() from A() and x > 5;");
  EXPECT_THAT(messages(text),
              ElementsAre("2:25: `x` stands outside a predicate's brackets, so it needs a state"));
  EXPECT_EQ(hint_of(text), "write `A.x`");
  EXPECT_EQ(hint_of(types("define F() from A() and each B() within 5 from A and x > 5;")),
            "write STATE.x, where STATE is `A` or `B`");
}

TEST(BindPattern, ConsumingNamesStates) {
  EXPECT_EQ(line_of(types("define F() from A() and each B() within 5 from A and each C() as K"
                          " within 5 from A consuming K, B;"),
                    "consuming "),
            "B");
  EXPECT_THAT(messages(types("define F() from A() and each B() within 5 from A consuming A;")),
              ElementsAre("2:60: the terminator `A` cannot be consumed"));
  EXPECT_THAT(messages(types("define F() from A() and each B() within 5 from A consuming D;")),
              ElementsAre("2:60: no state of this rule is named `D`"));
}

TEST(BindPattern, ConsumingTheTerminatorIsIgnoredInTRexSpelling) {
  const auto text = types(
      "Assign 1 => A Define F() From A() and each B() within 5 from A"
      " Consuming A, B;");
  EXPECT_THAT(messages(text),
              ElementsAre("2:74: warning: the terminator `A` cannot be consumed; ignored"));
  EXPECT_EQ(compile_text(text).rules.at(0).consuming, std::vector<std::uint32_t>{1});
}

}  // namespace
}  // namespace gorgo::language
