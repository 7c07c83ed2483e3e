#include "processor_fixture.hpp"

namespace gorgo {
namespace {

/// Many rules of which most go: places of removed rules are empty first, then others move up.
class RuleOrderTest : public ProcessorTest {
 protected:
  static std::string name(int i) { return "r" + std::to_string(i); }

  /// A rule that answers every A with an O of this number.
  static std::string rule(int i, int n) {
    return "rule " + name(i) + ": define O(n: int) from A() where n = " + std::to_string(n) + ";";
  }

  void SetUp() override {
    std::string text = "event A(n: int);";
    for (int i = 0; i < kRules; ++i) text += rule(i, i);
    deploy(text);
  }

  void remove(int i) { ASSERT_FALSE(processor.remove(name(i)).has_error()) << i; }

  std::vector<std::string> listed() {
    std::vector<std::string> names;
    for (const RuleInfo& info : processor.rules()) names.push_back(info.name);
    return names;
  }

  /// What comes of one more A.
  std::vector<std::string> answers() {
    append(counted("A", ++now_, 0));
    std::vector<std::string> answers;
    for (const std::string& line : process()) {
      const auto number = line.find(" O n=");
      if (number != line.npos) answers.push_back(line.substr(number + 5));
    }
    return answers;
  }

  static constexpr int kRules = 500;
  Timestamp now_ = 0;
};

TEST_F(RuleOrderTest, RulesKeepTheirOrderWhileMostOfThemGo) {
  std::vector<std::string> left, numbers;
  for (int i = 0; i < kRules; ++i) {
    if (i % 50 != 0) {
      remove(i);
      continue;
    }
    left.push_back(name(i));
    numbers.push_back(std::to_string(i));
  }
  EXPECT_EQ(listed(), left);
  EXPECT_EQ(answers(), numbers);
}

TEST_F(RuleOrderTest, AReplacedRuleKeepsItsPlaceAndANewOneComesLast) {
  for (int i = 0; i < kRules; ++i) {
    if (i % 100 != 7) remove(i);
  }
  deploy(rule(207, 1) + rule(3, 2), true);
  EXPECT_THAT(listed(), ElementsAre("r7", "r107", "r207", "r307", "r407", "r3"));
  EXPECT_THAT(answers(), ElementsAre("7", "107", "1", "307", "407", "2"));
}

TEST_F(RuleOrderTest, PagesOfRulesSkipTheOnesThatAreGone) {
  for (int i = 0; i < kRules; i += 3) remove(i);
  const auto page = processor.rules(2, 3);
  ASSERT_EQ(page.size(), 3u);
  EXPECT_EQ(page[0].name, "r4");
  EXPECT_EQ(page[1].name, "r5");
  EXPECT_EQ(page[2].name, "r7");
  EXPECT_EQ(processor.rule_count(), listed().size());
  EXPECT_THAT(processor.rules(processor.rule_count(), 5), IsEmpty());
  EXPECT_EQ(processor.rule_counters().size(), processor.rule_count());
}

TEST_F(RuleOrderTest, ARuleIsFoundByItsNameWhateverItsPlace) {
  for (int i = 0; i < kRules - 1; ++i) remove(i);
  const auto found = processor.rule("r499");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "r499");
  EXPECT_THAT(processor.rule("r49").error().to_string(), HasSubstr("did you mean `r499`?"));
}

TEST_F(RuleOrderTest, StateOfARuleSurvivesTheRemovalOfOthers) {
  deploy(
      "event B(n: int); rule c: define C(n: int) from B() and last A() within 1 min from B "
      "where n = A.n consuming A;");
  append(counted("A", ++now_, 5));
  append(counted("B", ++now_, 0));
  process();
  for (int i = 0; i < kRules; ++i) remove(i);
  append(counted("B", ++now_, 0));  // its A is consumed
  EXPECT_EQ(process().size(), 1u);
  EXPECT_EQ(processor.rules().at(0).composites, 1u);
}

TEST_F(RuleOrderTest, EveryDeployedRuleHasASerialOfItsOwn) {
  const std::uint64_t before = processor.rule("r5")->serial;
  deploy(rule(5, 5), true);
  EXPECT_GT(processor.rule("r5")->serial, processor.rule("r499")->serial);
  EXPECT_NE(processor.rule("r5")->serial, before);
}

}  // namespace
}  // namespace gorgo
