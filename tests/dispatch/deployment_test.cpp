#include <algorithm>

#include "processor_fixture.hpp"

namespace gorgo {
namespace {

class DeploymentTest : public ProcessorTest {};

TEST_F(DeploymentTest, ARuleMayLookAtTheHistoryThatIsThere) {
  deploy(
      "event A(n: int); event B(n: int);"
      "rule first: define F(n: int) from B() and each A() within 10 from B where n = A.n;");
  append(counted("A", 1, 1));
  append(counted("A", 2, 2));
  process();
  const Diagnostics diagnostics = processor.deploy(
      "second.tesla",
      "rule second: define S(n: int) from B() and each A() within 5 from B where n = A.n;",
      {.with_history = true});
  ASSERT_FALSE(diagnostics.failed()) << diagnostics.render();
  append(counted("B", 6, 0));
  EXPECT_THAT(process(), ElementsAre("3.0 B n=0", "3.1 F n=1", "3.2 F n=2", "3.3 S n=2"));
}

TEST_F(DeploymentTest, ARuleSeesOnlyWhatIsLaterThanItsDeployment) {
  deploy(
      "event A(n: int); event B(n: int);"
      "rule first: define F(n: int) from B() and each A() within 1 min from B where n = A.n;");
  append(counted("A", 1, 1));
  append(counted("A", 2, 2));
  process();
  deploy("rule second: define S(n: int) from B() and each A() within 1 min from B where n = A.n;");
  append(counted("B", 2, 0));  // as old as the deployment
  append(counted("A", 3, 3));
  append(counted("B", 4, 0));
  EXPECT_THAT(process(), ElementsAre("3.0 B n=0", "3.1 F n=1", "4.0 A n=3", "5.0 B n=0",
                                     "5.1 F n=1", "5.2 F n=2", "5.3 F n=3", "5.4 S n=3"));
}

TEST_F(DeploymentTest, ARuleWithPanesAddsUpWhatItMaySee) {
  deploy(
      "event A(n: int); event B(n: int);"
      "rule keep: define K(n: int) from B() and each A() within 1 min from B where n = A.n;");
  append(counted("A", 1, 1));
  append(counted("A", 2, 2));
  process();
  const std::string report =
      "(n: int) from Timer(every = 10 ms) where n = Sum(A().n within 10 ms inclusive from Timer);";
  deploy("@panes rule fresh: define P" + report);
  const auto diagnostics =
      processor.deploy("old.tesla", "@panes rule old: define Q" + report, {.with_history = true});
  ASSERT_FALSE(diagnostics.failed()) << diagnostics.render();
  append(counted("A", 3, 4));
  append(counted("A", 11, 8));
  EXPECT_THAT(process(), ElementsAre("3.0 A n=4", "4.1 P n=4", "5.1 Q n=7", "6.0 A n=8"));
  ASSERT_TRUE(processor.remove("fresh"));
  ASSERT_TRUE(processor.tick(20 * kMillisecond));
  EXPECT_THAT(process(), ElementsAre("7.1 Q n=8"));
}

TEST_F(DeploymentTest, WhatPanesHaveAddedUpIsNotKept) {
  processor = Processor({.max_late = 10 * kMillisecond});
  deploy(
      "event A(n: int); @panes rule r: define C(n: int) from Timer(every = 1 h) "
      "where n = Sum(A().n within 1 d inclusive from Timer);");
  std::vector<std::string> last;
  for (int second = 0; second <= 2 * 86'400; second += 10) {
    append(counted("A", 1000 * second, 1));
    if (second % 3600 == 0) last = process();
  }
  EXPECT_THAT(last, ::testing::Contains(::testing::EndsWith("C n=8640")));
  EXPECT_LE(processor.types().front().events, 500u);
  EXPECT_EQ(processor.types().front().reach_of_panes, 86'400 * 1000 * kMillisecond + 1);
  EXPECT_LT(processor.rule("r")->bytes, 10'000u);
}

TEST_F(DeploymentTest, ACountGoesOnWhileItsRuleIsSuspended) {
  // Nothing takes the rule up again by itself.
  processor = Processor({.on_suspension = [](const std::string&, bool) { return false; }});
  deploy("event A(n: int); rule r: define C(n: int) from every 2 A() where n = A.n;");
  append(counted("A", 1, 1));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=1"));
  ASSERT_TRUE(processor.suspend("r", true));
  append(counted("A", 2, 2));
  append(counted("A", 3, 3));
  EXPECT_THAT(process(), ElementsAre("2.0 A n=2", "3.0 A n=3"));
  EXPECT_EQ(processor.rules()[0].passed_over, 1u);
  ASSERT_TRUE(processor.suspend("r", false));
  append(counted("A", 4, 4));
  EXPECT_THAT(process(), ElementsAre("4.0 A n=4", "4.1 C n=4"));
}

TEST_F(DeploymentTest, AFileIsDeployedAsAWholeOrNotAtAll) {
  EXPECT_THAT(refusal(std::string(kFire) + "define Bad(a: int) from Nowhere(x = $y)"
                                           " where a = $z;"),
              HasSubstr("rules/test.tesla:8:"));
  EXPECT_THAT(processor.rules(), IsEmpty());
  EXPECT_EQ(processor.schema().find("Fire"), nullptr);
}

TEST_F(DeploymentTest, RulesAreReplacedInPlaceAndRemovedByName) {
  const std::string one = "rule one: define O(n: int) from A(n = $n) where n = ";
  const std::string two = "rule two: define T(n: int) from A(n = $n) where n = 2;";
  deploy("event A(n: int);" + one + "1;" + two);
  EXPECT_THAT(refusal(one + "3;"), HasSubstr("a rule `one` is deployed already"));
  deploy(one + "3;", true);
  append(counted("A", 1, 0));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=0", "1.1 O n=3", "1.2 T n=2"));

  const auto missing = processor.remove("onee");
  EXPECT_THAT(missing.error().to_string(), HasSubstr("did you mean `one`?"));
  EXPECT_FALSE(processor.remove("one").has_error());
  append(counted("A", 2, 0));
  EXPECT_THAT(process(), ElementsAre("2.0 A n=0", "2.1 T n=2"));
}

TEST_F(DeploymentTest, ARuleWithoutANameIsNamedAfterItsFileToo) {
  deploy("event A(n: int); define O(n: int) from A(n = $n) where n = 1;");
  EXPECT_THAT(processor.remove("O").error().to_string(), HasSubstr("did you mean `test.O`?"));
  EXPECT_FALSE(processor.remove("test.O").has_error());
}

TEST_F(DeploymentTest, AReplacementMayChangeTheCompositeType) {
  deploy("event A(n: int); rule one: define O(n: int) from A() where n = 1;");
  deploy("rule one: define O(text: string) from A() where text = 'x';", true);
  append(counted("A", 1, 0));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=0", "1.1 O text=x"));
}

TEST_F(DeploymentTest, AReplacedRuleStartsWithNothingConsumed) {
  const std::string rule =
      "rule r: define O(n: int) from B() and last A() within 1 min from B where n = A.n "
      "consuming A;";
  deploy("event A(n: int); event B(n: int);" + rule);
  append(counted("A", 1, 7));
  append(counted("B", 2, 0));
  append(counted("B", 3, 0));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=7", "2.0 B n=0", "2.1 O n=7", "3.0 B n=0"));
  EXPECT_EQ(processor.rules()[0].composites, 1u);
  deploy(rule, true);
  EXPECT_EQ(processor.rules()[0].composites, 0u);
}

TEST_F(DeploymentTest, MemoryIsAccountedAndFlatOverADayOfEvents) {
  processor = Processor({.max_late = 0});
  deploy(
      "event A(n: int); event B(n: int); rule r: define O(n: int) "
      "from B(n = $n) and each A(n = $n) within 10 s from B and not B(n = $n) within 1 s after B "
      "where n = A.n consuming A;");
  const auto bytes = [&] {
    std::size_t total = processor.rules()[0].bytes;
    for (const auto& type : processor.types()) total += type.bytes;
    return total;
  };
  std::size_t most_in_two_hours = 0, most_later = 0;
  constexpr int kDay = 24 * 3600;
  for (int second = 0; second < kDay; ++second) {
    append(counted(second % 3 == 0 ? "B" : "A", second * 1000, second % 7));
    if (second % 100 != 0) continue;
    process();
    std::size_t& most = second <= kDay / 12 ? most_in_two_hours : most_later;
    most = std::max(most, bytes());
  }
  EXPECT_GT(processor.rules()[0].composites, 1000u);
  EXPECT_LE(most_later, most_in_two_hours + most_in_two_hours / 4);
  ASSERT_EQ(processor.types().size(), 2u);
  EXPECT_EQ(processor.types()[0].reach, 11'000 * kMillisecond);
  EXPECT_LE(processor.types()[0].events, 12u);
}

TEST_F(DeploymentTest, UnknownEnginesAreRefusedByName) {
  EXPECT_THAT(refusal("@engine(warp) define O(n: int) from A([int]n = 1) where n = 1;"),
              HasSubstr("there is no engine `warp`"));
}

TEST_F(DeploymentTest, DeclaringATypeTwiceMustAgree) {
  EXPECT_FALSE(processor.declare("T", {{"a", ValueType::integer}}).has_error());
  EXPECT_FALSE(processor.declare("T", {{"a", ValueType::integer}}).has_error());
  const auto differs = processor.declare("T", {{"a", ValueType::floating}});
  EXPECT_THAT(differs.error().to_string(), HasSubstr("event T(a: int);"));
  EXPECT_THAT(refused({.type = "T"}), HasSubstr("`a` is missing"));
}

}  // namespace
}  // namespace gorgo
