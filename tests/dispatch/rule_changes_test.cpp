#include "trial_fixture.hpp"

namespace gorgo {
namespace {

constexpr const char* kPairs =
    "define C(n: int) from B(n = $n) and each A(n = $n) within 1 h from B where n = A.n;";

/// A rule that has moved to `column` and is on proof, while rules come and go.
class RuleChangesTest : public TrialTest {
 protected:
  RuleChangesTest() : TrialTest("reference", {.choices = {"column"}}) { try_out(1e12); }

  std::string engine() { return std::string(placement().engine().name()); }
  bool is_moving() { return is_on_proof(number_); }
  void remove(const std::string& rule) {
    const auto removed = rules_.remove(rule, history_);
    ASSERT_TRUE(removed) << removed.error().to_string();
  }
  void pin(const std::string& rule, const std::string& engine) {
    const auto pinned = rules_.pin(rule, engine, history_);
    ASSERT_TRUE(pinned) << pinned.error().to_string();
  }
};

TEST_F(RuleChangesTest, AProofGoesOnWhenAnotherRuleGoes) {
  ASSERT_EQ(engine(), "column");
  ASSERT_TRUE(is_moving());
  remove("s");
  settle(1);
  EXPECT_TRUE(is_moving());
  run(80, 1e6);
  EXPECT_EQ(engine(), "reference");
}

TEST_F(RuleChangesTest, AnEngineThatHasProvedToBeWorseIsLeftAloneAlthoughAnotherRuleGoes) {
  run(80, 1e6);
  ASSERT_EQ(engine(), "reference");
  remove("s");
  for (int i = 0; i < 200; ++i) {
    run(2, 1e6);
    ASSERT_FALSE(placer_.is_tried(0) || is_moving());
  }
}

TEST_F(RuleChangesTest, ARuleThatTakesThePlaceOfAnotherHasNotMoved) {
  ASSERT_TRUE(is_moving());
  deploy("rule r: " + std::string(kPairs), {.replace = true});
  settle(1);
  EXPECT_FALSE(is_moving());
}

TEST_F(RuleChangesTest, ARuleThatIsPinnedDoesNotGoBack) {
  pin("r", "column");
  settle(1);
  EXPECT_FALSE(is_moving());
  run(80, 1e6);
  EXPECT_EQ(engine(), "column");
}

TEST_F(RuleChangesTest, ATrialGoesOnWhenAnotherRuleGoesAndEndsWithItsOwn) {
  pin("r", "reference");
  settle(1);
  pin("r", "auto");
  begin_trial();
  pin("s", "column");
  settle(1);
  EXPECT_TRUE(placer_.is_tried(0));
  remove("r");
  settle(1);
  EXPECT_FALSE(placer_.is_tried(0));
}

/// The rule comes behind many others, so that its number changes when they go.
class RenumberedRuleTest : public TrialTest {
 protected:
  static constexpr int kOthers = 100;

  RenumberedRuleTest() {
    for (int i = 0; i < kOthers; ++i) deploy("rule " + other(i) + ": define O() from A();");
    deploy("rule t: " + std::string(kPairs), {.with_history = true});
    number_ = kOthers + 2;
    set_automatic(true);
    evaluate();
    try_out(1e12);
  }
  static std::string other(int i) { return "other" + std::to_string(i); }
};

TEST_F(RenumberedRuleTest, AProofGoesOnUnderTheNewNumber) {
  ASSERT_EQ(placement().engine().name(), "column");
  for (int i = 0; i < kOthers; ++i) {
    ASSERT_FALSE(rules_.remove(other(i), history_).has_error());
  }
  ASSERT_LT(rules_.numbers(), number_);
  number_ = static_cast<std::uint32_t>(rules_.numbers()) - 1;
  ASSERT_EQ(rule().rule().name, "t");
  settle(1);
  EXPECT_TRUE(is_on_proof(number_));
  run(80, 1e6);
  EXPECT_EQ(placement().engine().name(), "reference");
}

}  // namespace
}  // namespace gorgo
