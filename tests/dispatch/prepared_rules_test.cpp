#include <thread>

#include "dispatch/rules/rule_base.hpp"
#include "processor_fixture.hpp"

namespace gorgo {
namespace {

constexpr const char* kRule = "rule r: define O(n: int) from A([int]n = $n) where n = $n;";

class PreparedRulesTest : public ProcessorTest {
 protected:
  static PreparedRules prepare(const RuleSnapshot& snapshot, const std::string& text,
                               bool replace = false) {
    return prepare_rules(snapshot, "test.tesla", text, {.replace = replace});
  }
  std::string install(PreparedRules prepared) {
    return processor.deploy(std::move(prepared)).render();
  }
};

TEST_F(PreparedRulesTest, ATextIsPreparedOnAnotherThreadWhileRulesComeAndGo) {
  deploy("event A(n: int);");
  PreparedRules prepared;
  std::thread checker([&prepared, snapshot = processor.snapshot()] {
    for (int i = 0; i < 20; ++i) prepared = prepare(snapshot, kRule);
  });
  for (int i = 0; i < 20; ++i) {
    deploy("rule other: define P() from A();");
    ASSERT_FALSE(processor.remove("other").has_error());
  }
  checker.join();
  EXPECT_EQ(install(prepared), "");
  append(counted("A", 1, 5));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=5", "1.1 O n=5"));
}

TEST_F(PreparedRulesTest, ASnapshotStaysAsItWas) {
  const RuleSnapshot before = processor.snapshot();
  deploy("event A(s: string);");
  EXPECT_EQ(prepare(before, "event A(n: int);")->diagnostics.render(), "");
  EXPECT_THAT(prepare(processor.snapshot(), "event A(n: int);")->diagnostics.render(),
              HasSubstr("contradicts"));
}

TEST_F(PreparedRulesTest, WhatWasPreparedAgainstOtherTypesIsPreparedAgain) {
  auto prepared = prepare(processor.snapshot(), kRule);
  ASSERT_FALSE(processor.declare("B", {{"x", ValueType::integer}}).has_error());
  ASSERT_FALSE(processor.declare("A", {{"n", ValueType::integer}}).has_error());
  EXPECT_EQ(install(prepared), "");
  append(counted("A", 1, 5));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=5", "1.1 O n=5"));
}

TEST_F(PreparedRulesTest, WhatNoLongerHoldsIsRefused) {
  auto contradicts = prepare(processor.snapshot(), kRule);
  auto deployed_already = prepare(processor.snapshot(), kRule);
  ASSERT_FALSE(processor.declare("A", {{"n", ValueType::string}}).has_error());
  EXPECT_THAT(install(contradicts), HasSubstr("error"));
  EXPECT_EQ(processor.rule_count(), 0u);
  processor = Processor();
  deploy(kRule);
  EXPECT_THAT(install(deployed_already), HasSubstr("is deployed already"));
  EXPECT_EQ(processor.rule_count(), 1u);
}

TEST_F(PreparedRulesTest, TypesOfReplacedRulesGoUnlessOthersUseThem) {
  deploy(
      "rule a: define X(n: int) from A([int]n = $n) where n = $n;"
      "rule b: define Y(n: int) from B([int]n = $n) where n = $n;"
      "rule c: define Z(n: int) from B([int]n = $n) where n = $n;");
  const std::string a = "rule a: define X(s: string) from A([string]n = $n) where s = $n;";
  const std::string b = "rule b: define Y(s: string) from B([string]n = $n) where s = $n;";
  EXPECT_EQ(prepare(processor.snapshot(), a, true)->diagnostics.render(), "");
  EXPECT_THAT(prepare(processor.snapshot(), b, true)->diagnostics.render(), HasSubstr("error"));
  ASSERT_FALSE(processor.remove("c").has_error());
  EXPECT_EQ(refusal(b, true), "");
}

TEST_F(PreparedRulesTest, ACycleThroughTheNewRulesIsWarnedOf) {
  deploy(
      "event A(n: int); event S(n: int);"
      "rule one: define X(n: int) from S(n = $n) where n = $n;"
      "rule two: define Y(n: int) from X(n = $n) where n = $n;");
  EXPECT_THAT(refusal("rule three: define X(n: int) from Y(n = $n) where n = $n;"),
              HasSubstr("the rules feed each other in a cycle: `X -> Y -> X`"));
  EXPECT_EQ(refusal("rule four: define Z(n: int) from Y(n = $n) where n = $n;"), "");
}

}  // namespace
}  // namespace gorgo
